import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { readLoad } from '../../../lambda/stream-scaler/read-load';
import { UniformStream } from '../../../lib';
import { desiredShardCount, type Load, type ScalingSituation } from '../../../lib/core/resharding/scaling-policy';
import { shardCountSteps } from '../../../lib/core/resharding/shard-count-steps';
import { SCALE_IN_FRACTION, SURGE_FRACTION } from '../../../lib/core/resharding/thresholds';
import { formatUpdateHistory, type PastUpdate, parseUpdateHistory } from '../../../lib/core/resharding/update-history';
import { FakeCloudWatch } from '../../../lib/testing/fake-cloudwatch';
import type { AlarmProperties, MetricIdentity } from '../../../lib/testing/parsed-alarm';

interface ScaledStreamOptions {
  /** Measures the load, for example with the alarms of the template. */
  watch: LoadWatch;
  /** @default the policy of the library */
  policy?: (situation: ScalingSituation) => number;
  /** The written records per minute, in multiples of the capacity of one shard. */
  demandAt: (minute: number) => number;
  /** The part of the demand that goes to one hot shard, for any number of shards. @default 0 */
  hotShare?: number;
  minutes: number;
  startShards: number;
  minShards?: number;
  maxShards?: number;
  /** The delay of metrics in minutes. @default 0 */
  lateMinutes?: () => number;
  /** The duration of an update. According to AWS, an update of most streams takes minutes. @default 5 */
  updateMinutes?: number;
}

/** The metrics of one minute. */
interface Measures {
  /** The accepted and the throttled records, in multiples of the capacity of one shard. */
  readonly accepted: number;
  readonly refused: number;
  /** The current number of shards, or the target of an update in progress. */
  readonly shards: number;
}

interface LoadWatch {
  /** Called at the end of each minute with its metrics, which arrive after the delay. */
  load(minute: number, measures: Measures, lateMinutes: number): Load | Promise<Load>;
}

interface ScaledStreamResult {
  /** The sum of the shard counts of all minutes. */
  readonly shardMinutes: number;
  /** The share of minutes in which records were throttled. */
  readonly throttledTime: number;
  /** The maximum number of consecutive minutes with throttled records. */
  readonly longestThrottling: number;
  /** The share of records whose first attempt was throttled. */
  readonly throttledShare: number;
  readonly updates: number;
  /** The maximum number of updates in any 24 hours. */
  readonly mostUpdatesADay: number;
  readonly endShards: number;
}

const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;
const SHARD_BYTES_A_MINUTE = 60 * 1_000_000;
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
  const { watch, policy = desiredShardCount, demandAt, hotShare = 0, minutes } = options;
  const { minShards = 1, maxShards = 128, lateMinutes = () => 0, updateMinutes = 5 } = options;
  let shards = options.startShards;
  let asked = shards;
  let doneAt = -1;
  let tag = '';
  let throttledInARow = 0;
  const updatedAt: number[] = [];
  const result = {
    shardMinutes: 0,
    throttledMinutes: 0,
    longestThrottling: 0,
    demanded: 0,
    refused: 0,
    mostUpdatesADay: 0,
  };

  for (let minute = 0; minute < minutes; minute += 1) {
    if (minute === doneAt) shards = asked;
    const demand = demandAt(minute);
    const hot = demand * hotShare;
    const accepted = hotShare === 0 ? Math.min(demand, shards) : acceptedUnderHotShard(demand, hot, shards);
    const now = START_MS + (minute + 1) * MINUTE_MS;
    const measures = { accepted, refused: demand - accepted, shards: asked };
    const load = await watch.load(minute, measures, lateMinutes());
    result.shardMinutes += Math.max(shards, asked);
    result.demanded += demand;
    result.refused += demand - accepted;
    throttledInARow = demand > accepted * 1.000_001 ? throttledInARow + 1 : 0;
    if (throttledInARow > 0) result.throttledMinutes += 1;
    result.longestThrottling = Math.max(result.longestThrottling, throttledInARow);

    if (minute < doneAt || load === 'normal') continue;
    const history: PastUpdate[] = parseUpdateHistory(tag, now);
    const desired = policy({ openShardCount: shards, load, history, now, minShards, maxShards });
    const [next] = shardCountSteps(shards, desired);
    if (next === undefined) continue;
    tag = formatUpdateHistory([...history, { time: now, shardCount: next }]);
    updatedAt.push(now);
    result.mostUpdatesADay = Math.max(result.mostUpdatesADay, updatedAt.filter((at) => at > now - DAY_MS).length);
    asked = next;
    doneAt = minute + updateMinutes;
  }
  return {
    shardMinutes: result.shardMinutes,
    throttledTime: result.throttledMinutes / minutes,
    longestThrottling: result.longestThrottling,
    throttledShare: result.refused / result.demanded,
    updates: updatedAt.length,
    mostUpdatesADay: result.mostUpdatesADay,
    endShards: asked,
  };
}

function acceptedUnderHotShard(demand: number, hot: number, shards: number): number {
  const evenly = (demand - hot) / shards;
  return Math.min(1, evenly + hot) + (shards - 1) * Math.min(1, evenly);
}

/** Evaluates the alarms of `StreamAutoScaling`, or other alarms with the same ids. */
export function alarmWatch(alarms: ReadonlyMap<string, AlarmProperties>): LoadWatch {
  const cloudWatch = new FakeCloudWatch();
  for (const [id, properties] of alarms) cloudWatch.putMetricAlarm(id, properties);
  const stats = [...alarms.values()].flatMap(({ Metrics = [] }) =>
    Metrics.flatMap(({ MetricStat }) => MetricStat ?? []),
  );
  const metrics = new Map<string, MetricIdentity>(stats.map(({ Metric }) => [Metric.MetricName as string, Metric]));
  return {
    load(minute, { accepted, refused, shards }, lateMinutes) {
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
    },
  };
}

/**
 * Calculates the result of the alarms directly. This is 100 times faster than `alarmWatch`, and makes simulations of a
 * year possible.
 */
export function plainWatch(target: number, minutes: number): LoadWatch {
  const used = new Float64Array(minutes);
  const arrives = new Float64Array(minutes);
  const surge = target + (1 - target) * SURGE_FRACTION;
  const meanBelow = (end: number, limit: number): boolean => {
    for (let last = end; last > end - 30; last -= 5) {
      let sum = 0;
      for (let minute = last; minute > last - 5; minute -= 1) if (arrives[minute]! <= end) sum += used[minute]!;
      if (sum / 5 >= limit) return false;
    }
    return true;
  };
  const isAbove = (end: number, limit: number): boolean => {
    let above = 0;
    for (let minute = end; minute > end - 6 && minute >= 0; minute -= 1) {
      if (arrives[minute]! <= end && used[minute]! > limit) above += 1;
    }
    return above >= 3;
  };
  return {
    load(minute, { accepted, refused, shards }, lateMinutes) {
      used[minute] = refused > 0.000_01 ? Math.max(1, accepted / shards) : accepted / shards;
      arrives[minute] = minute + lateMinutes;
      if (isAbove(minute, surge)) return 'surging';
      if (isAbove(minute, target)) return 'high';
      return minute >= 30 && meanBelow(minute, target * SCALE_IN_FRACTION) ? 'low' : 'normal';
    },
  };
}
