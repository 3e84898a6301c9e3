import { type AlarmStateValue, alarmState } from './alarm-state';
import type { MathRange, Series } from './metric-math';
import { MetricSamples, type Statistic } from './metric-samples';
import { type AlarmProperties, type MetricIdentity, metricKey, type ParsedAlarm, parseAlarm } from './parsed-alarm';

/** Options of a `FakeCloudWatch`. */
export interface FakeCloudWatchOptions {
  /**
   * The number of additional periods that an alarm reads before its evaluation periods, because some periods can have no value.
   * AWS only documents that the number is above 0, and shows an example with two additional periods, for an alarm of three
   * periods of five minutes.
   *
   * @default 2
   */
  extraPeriods?: number;
  /**
   * Whether FILL creates values for a metric that has no value in the whole range. AWS does not document this. @default
   * false
   */
  fillsEmpty?: boolean;
}

/** A value of a metric, in the format of `PutMetricData`. */
export interface MetricDatum extends MetricIdentity {
  readonly Value: number;
  /** The time of the measurement, in milliseconds since 1970. */
  readonly atMs: number;
  /** The time from which CloudWatch sees the value, if this time is later than `atMs`. @default atMs */
  readonly arrivesAtMs?: number;
}

/** The input of `getMetricData`. */
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
 * Evaluates the alarms of a template as CloudWatch does. Metric values can arrive in time, late, twice or never.
 *
 * Pass the properties of an alarm to `putMetricAlarm` exactly as in the synthesized template. References, such as the name of a
 * stream, can stay unresolved if you put the metrics with the same references. `describeAlarms` returns the same response as
 * the client of the SDK.
 *
 * Call `evaluate` every minute. The method evaluates all alarms over the periods that end at that minute. The class supports
 * alarms on metrics and on metric math, with missing data. The class does not support composite alarms, percentiles, anomaly
 * detection, or alarms over more than two days.
 *
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-evaluation.html
 */
export class FakeCloudWatch {
  private readonly alarms = new Map<string, Alarm>();
  private readonly samples = new Map<string, MetricSamples>();
  /** The values that CloudWatch does not see yet, in the order of their arrival. */
  private readonly late: Arrival[] = [];

  constructor(private readonly options: FakeCloudWatchOptions = {}) {}

  /** @throws InvalidArgumentError for an unsupported kind of alarm */
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

  /** Evaluates every alarm over the periods that end at `nowMs`. Call this method every minute. */
  evaluate(nowMs: number): void {
    this.addArrivedValues(nowMs);
    for (const alarm of this.alarms.values()) {
      alarm.state = alarmState(this.watched(alarm, nowMs), alarm.definition.rule, alarm.state);
    }
  }

  /** Adds the values that CloudWatch sees at `nowMs`. */
  private addArrivedValues(nowMs: number): void {
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
   * Returns the values of metrics by period, as the client of the SDK does: the latest value first, without periods that have
   * no value. The method supports metrics with the statistics of alarms, but no metric math.
   */
  async getMetricData({ MetricDataQueries, StartTime, EndTime }: FakeMetricDataInput): Promise<{
    MetricDataResults: { Id: string; Timestamps: Date[]; Values: number[] }[];
  }> {
    const endMs = EndTime.getTime();
    this.addArrivedValues(endMs);
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
