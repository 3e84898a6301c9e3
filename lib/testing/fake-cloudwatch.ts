import { type AlarmStateValue, alarmState } from './alarm-state';
import type { MathRange, Series } from './metric-math';
import { MetricSamples, type Statistic } from './metric-samples';
import { type AlarmProperties, type MetricIdentity, metricKey, type ParsedAlarm, parseAlarm } from './parsed-alarm';

/** How a `FakeCloudWatch` evaluates its alarms. */
export interface FakeCloudWatchOptions {
  /**
   * How many periods before its evaluation periods an alarm reads, in case some have no value. AWS says only that it is
   * more than none, and shows two for an alarm of three periods of five minutes.
   *
   * @default 2
   */
  extraPeriods?: number;
  /** Whether FILL makes values of a metric that has none in all periods that are read. AWS does not say. @default false */
  fillsEmpty?: boolean;
}

/** A value of a metric, as `PutMetricData` has it. */
export interface MetricDatum extends MetricIdentity {
  readonly Value: number;
  /** When it was measured, in milliseconds since 1970. */
  readonly atMs: number;
  /** When CloudWatch can see it, if that is later. @default atMs */
  readonly arrivesAtMs?: number;
}

/** What `getMetricData` is asked. */
export interface FakeMetricDataInput {
  readonly MetricDataQueries: readonly {
    readonly Id: string;
    readonly MetricStat: { readonly Metric: MetricIdentity; readonly Period: number; readonly Stat: Statistic };
  }[];
  readonly StartTime: Date;
  readonly EndTime: Date;
}

interface Alarm {
  readonly name: string;
  readonly definition: ParsedAlarm;
  readonly samples: readonly MetricSamples[];
  state: AlarmStateValue;
}

interface Arrival {
  readonly key: string;
  readonly datum: MetricDatum;
  readonly arrivesAtMs: number;
}

/**
 * The alarms of a template, evaluated as CloudWatch does, over metrics that arrive in time, late, twice or never.
 *
 * Put an alarm's properties just as the synthesized template has them. Values that only a deployment knows, such as the
 * name of a stream, may stay references, as long as the metrics are put with the same. `describeAlarms` answers as the
 * SDK's client does.
 *
 * It evaluates every minute, over periods that end at that minute, and knows alarms of metrics and of metric math, with
 * missing data; not those of composite alarms, percentiles, anomaly detection, nor of more than
 * two days.
 *
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-evaluation.html
 */
export class FakeCloudWatch {
  private readonly alarms = new Map<string, Alarm>();
  private readonly samples = new Map<string, MetricSamples>();
  /** What CloudWatch cannot see yet, in the order of its arrival. */
  private readonly late: Arrival[] = [];

  constructor(private readonly options: FakeCloudWatchOptions = {}) {}

  /** @throws InvalidArgumentError for an alarm of a kind that the simulator does not know */
  putMetricAlarm(name: string, properties: AlarmProperties): void {
    const definition = parseAlarm(properties);
    const samples = definition.metrics.map(({ key }) => this.samplesOf(key));
    this.alarms.set(name, { name, definition, samples, state: 'INSUFFICIENT_DATA' });
  }

  putMetricData(datum: MetricDatum): void {
    const { atMs, arrivesAtMs = atMs, Value } = datum;
    const key = metricKey(datum);
    if (arrivesAtMs <= atMs) {
      this.samplesOf(key).add(atMs, Value);
      return;
    }
    let index = this.late.length;
    while (index > 0 && this.late[index - 1]!.arrivesAtMs > arrivesAtMs) index -= 1;
    this.late.splice(index, 0, { key, datum, arrivesAtMs });
  }

  /** Evaluates every alarm over the periods that end at `nowMs`. Call it every minute. */
  evaluate(nowMs: number): void {
    this.arrive(nowMs);
    for (const alarm of this.alarms.values()) {
      alarm.state = alarmState(this.watched(alarm, nowMs), alarm.definition.rule, alarm.state);
    }
  }

  /** What CloudWatch can see from `nowMs` on. */
  private arrive(nowMs: number): void {
    const arrived = this.late.findIndex(({ arrivesAtMs }) => arrivesAtMs > nowMs);
    for (const { key, datum } of this.late.splice(0, arrived === -1 ? this.late.length : arrived)) {
      this.samplesOf(key).add(datum.atMs, datum.Value);
    }
  }

  /** @throws Error if there is no such alarm */
  stateOf(name: string): AlarmStateValue {
    const alarm = this.alarms.get(name);
    if (alarm === undefined) throw new Error(`there is no alarm ${name}`);
    return alarm.state;
  }

  async describeAlarms({ AlarmNames }: { AlarmNames: string[] }): Promise<{
    MetricAlarms: { AlarmName: string; StateValue: AlarmStateValue }[];
  }> {
    const found = [...this.alarms.values()].filter(({ name }) => AlarmNames.includes(name));
    return { MetricAlarms: found.map(({ name, state }) => ({ AlarmName: name, StateValue: state })) };
  }

  /**
   * The values of metrics by period, as the SDK's client has them: the latest first, without the periods that have none. It knows
   * metrics and the statistics of alarms, no metric math.
   */
  async getMetricData({ MetricDataQueries, StartTime, EndTime }: FakeMetricDataInput): Promise<{
    MetricDataResults: { Id: string; Timestamps: Date[]; Values: number[] }[];
  }> {
    const endMs = EndTime.getTime();
    this.arrive(endMs);
    const MetricDataResults = MetricDataQueries.map(({ Id, MetricStat: { Metric, Period, Stat } }) => {
      const periodMs = Period * 1_000;
      const periods = Math.floor((endMs - StartTime.getTime()) / periodMs);
      const series = this.samplesOf(metricKey(Metric)).series(Stat, periodMs, periods, endMs);
      const measured = series.flatMap((value, n) => (Number.isNaN(value) ? [] : [[n, value] as const])).reverse();
      return {
        Id,
        Timestamps: measured.map(([n]) => new Date(endMs - (periods - n) * periodMs)),
        Values: measured.map(([, value]) => value),
      };
    });
    return { MetricDataResults };
  }

  private watched({ definition, samples }: Alarm, nowMs: number): Series {
    const { metrics, expressions, periodMs, rule } = definition;
    const periods = rule.evaluationPeriods + (this.options.extraPeriods ?? 2);
    const series = new Map<string, Series>();
    let last: Series = [];
    for (const [index, { id, statistic }] of metrics.entries()) {
      last = samples[index]!.series(statistic, periodMs, periods, nowMs);
      series.set(id, last);
    }
    const range: MathRange = {
      series,
      periods,
      periodSeconds: periodMs / 1_000,
      fillsEmpty: this.options.fillsEmpty ?? false,
    };
    for (const { id, expression } of expressions) {
      last = expression(range) as Series;
      series.set(id, last);
    }
    return last;
  }

  private samplesOf(key: string): MetricSamples {
    let samples = this.samples.get(key);
    if (samples === undefined) {
      samples = new MetricSamples();
      this.samples.set(key, samples);
    }
    return samples;
  }
}
