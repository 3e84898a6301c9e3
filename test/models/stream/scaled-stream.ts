import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { readLoad } from '../../../lambda/stream-scaler/read-load';
import { UniformStream } from '../../../lib';
import { desiredShardCount, type Load } from '../../../lib/core/resharding/scaling-policy';
import { shardCountSteps } from '../../../lib/core/resharding/shard-count-steps';
import { formatUpdateHistory, type PastUpdate, parseUpdateHistory } from '../../../lib/core/resharding/update-history';
import { FakeCloudWatch } from '../../../lib/testing/fake-cloudwatch';
import type { AlarmProperties, MetricIdentity } from '../../../lib/testing/parsed-alarm';

interface ScaledStreamOptions {
  /** The alarms that measure the load, by alarm id. */
  alarms: ReadonlyMap<string, AlarmProperties>;
  /** The written records per minute, in multiples of the capacity of one shard. */
  demandAt: (minute: number) => number;
  /** The part of the demand that goes to one hot shard, for any number of shards. @default 0 */
  hotShare?: number;
  minutes: number;
  startShards: number;
  /** The delay of metrics in minutes. @default 0 */
  lateMinutes?: () => number;
}

/** The metrics of one minute. */
interface Measures {
  /** The accepted and the throttled records, in multiples of the capacity of one shard. */
  readonly accepted: number;
  readonly refused: number;
  /** The current number of shards, or the target of an update in progress. */
  readonly shards: number;
}

interface ScaledStreamResult {
  /** The share of minutes in which records were throttled. */
  readonly throttledTime: number;
  /** The maximum number of consecutive minutes with throttled records. */
  readonly longestThrottling: number;
  /** The maximum number of updates in any 24 hours. */
  readonly mostUpdatesADay: number;
  readonly endShards: number;
}

const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;
const SHARD_BYTES_A_MINUTE = 60 * 1_000_000;
/** The duration of an update. According to AWS, an update of most streams takes minutes. */
const UPDATE_MINUTES = 5;
const START_MS = Date.UTC(2026, 0, 1);

/** The alarms in the template of `StreamAutoScaling`, by alarm id. */
export function scalingAlarms(): ReadonlyMap<string, AlarmProperties> {
  const stack = new Stack(new App(), 'Simulated');
  const stream = new UniformStream(stack, 'Events', { shardCount: 4 });
  stream.autoScaleShardCount({ minCapacity: 1, maxCapacity: 10_000 });
  const alarms = Template.fromStack(stack).findResources('AWS::CloudWatch::Alarm');
  return new Map(
    Object.entries(alarms).map(([id, { Properties }]) => [/AutoScaling(\w+)Alarm/.exec(id)![1]!, Properties]),
  );
}

/**
 * Simulates a stream with auto scaling minute by minute: its demand, the metrics of Kinesis and of the scaler with
 * their delay, the alarms of the template, and the policy. Metrics contain accepted bytes, but not throttled bytes.
 */
export async function simulateScaledStream(options: ScaledStreamOptions): Promise<ScaledStreamResult> {
  const { demandAt, hotShare = 0, minutes, lateMinutes = () => 0 } = options;
  const loadAt = alarmWatch(options.alarms);
  let shards = options.startShards;
  let asked = shards;
  let doneAt = -1;
  let tag = '';
  let throttledInARow = 0;
  const updatedAt: number[] = [];
  let [throttledMinutes, longestThrottling, mostUpdatesADay] = [0, 0, 0];

  for (let minute = 0; minute < minutes; minute += 1) {
    if (minute === doneAt) shards = asked;
    const demand = demandAt(minute);
    const hot = demand * hotShare;
    const accepted = hotShare === 0 ? Math.min(demand, shards) : acceptedUnderHotShard(demand, hot, shards);
    const now = START_MS + (minute + 1) * MINUTE_MS;
    const measures = { accepted, refused: demand - accepted, shards: asked };
    const load = await loadAt(minute, measures, lateMinutes());
    throttledInARow = demand > accepted * 1.000_001 ? throttledInARow + 1 : 0;
    if (throttledInARow > 0) throttledMinutes += 1;
    longestThrottling = Math.max(longestThrottling, throttledInARow);

    if (minute < doneAt || load === 'normal') continue;
    const history: PastUpdate[] = parseUpdateHistory(tag, now);
    const desired = desiredShardCount({ openShardCount: shards, load, history, now, minShards: 1, maxShards: 128 });
    const [next] = shardCountSteps(shards, desired);
    if (next === undefined) continue;
    tag = formatUpdateHistory([...history, { time: now, shardCount: next }]);
    updatedAt.push(now);
    mostUpdatesADay = Math.max(mostUpdatesADay, updatedAt.filter((at) => at > now - DAY_MS).length);
    asked = next;
    doneAt = minute + UPDATE_MINUTES;
  }
  return { throttledTime: throttledMinutes / minutes, longestThrottling, mostUpdatesADay, endShards: asked };
}

function acceptedUnderHotShard(demand: number, hot: number, shards: number): number {
  const evenly = (demand - hot) / shards;
  return Math.min(1, evenly + hot) + (shards - 1) * Math.min(1, evenly);
}

/**
 * Evaluates the alarms. The returned function is called at the end of each minute with its metrics, which arrive after the delay, and
 * returns the load.
 */
function alarmWatch(alarms: ReadonlyMap<string, AlarmProperties>) {
  const cloudWatch = new FakeCloudWatch();
  for (const [id, properties] of alarms) cloudWatch.putMetricAlarm(id, properties);
  const stats = [...alarms.values()].flatMap(({ Metrics = [] }) =>
    Metrics.flatMap(({ MetricStat }) => MetricStat ?? []),
  );
  const metrics = new Map<string, MetricIdentity>(stats.map(({ Metric }) => [Metric.MetricName as string, Metric]));
  return async (minute: number, { accepted, refused, shards }: Measures, lateMinutes: number): Promise<Load> => {
    const now = START_MS + (minute + 1) * MINUTE_MS;
    const put = (name: string, Value: number) =>
      cloudWatch.putMetricData({
        ...metrics.get(name)!,
        Value,
        atMs: now - MINUTE_MS,
        arrivesAtMs: now + lateMinutes * MINUTE_MS,
      });
    put('IncomingBytes', accepted * SHARD_BYTES_A_MINUTE);
    put('WriteProvisionedThroughputExceeded', Math.round(refused * 60_000));
    put('OpenShards', shards);
    cloudWatch.evaluate(now);
    return readLoad(cloudWatch, { surge: 'Surge', scaleOut: 'ScaleOut', scaleIn: 'ScaleIn' });
  };
}
