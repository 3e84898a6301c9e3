import type { ListPrices } from '../../lib/core/planning/list-prices';
import { type KeyPlacement, planStream } from '../../lib/core/planning/plan-stream';
import { busiestKey, type TrafficSample } from '../samples/traffic-sample';
import { numbersOf, type PlanFlags } from './plan-flags';
import { largestRate, type SamplePlacement, samplePlacement } from './sample-placement';

/** Plans a stream for the traffic in the flags, or for a sample. */
export function plannedStream(
  flags: PlanFlags,
  sample: TrafficSample | undefined,
  prices: Partial<ListPrices> | undefined,
) {
  const number = numbersOf(flags);
  const common = {
    headRoom: number('head-room'),
    consumers: number('consumers'),
    pollsPerSecond: number('polls-per-second'),
    enhancedFanOutConsumers: number('enhanced-fan-out-consumers'),
    probability: number('probability'),
    averageOfPeak: number('average-of-peak'),
    prices,
  };
  const recordsPerSecond = number('records-per-second');
  const bytesPerSecond = number('bytes-per-second');
  if (sample === undefined) {
    const { balanced } = flags;
    const traffic = { ...common, recordsPerSecond: recordsPerSecond!, bytesPerSecond, keys: number('keys'), balanced };
    return { traffic, rateIsLimit: false, balanced, plan: planStream(traffic) };
  }
  const rate = recordsPerSecond ?? largestRate(sample, common.headRoom);
  const recordSizes = [...sample.sizes].map(([bytes, share]) => ({ bytes, share }));
  const traffic = {
    ...common,
    recordsPerSecond: rate,
    ...(bytesPerSecond === undefined ? { recordSizes } : { bytesPerSecond }),
    hottestKeyShare: busiestKey(sample).share,
  };
  const { shards } = planStream(traffic);
  const placement = samplePlacement(sample, { recordsPerSecond: rate, headRoom: common.headRoom, shards });
  const design = designOf(placement, flags.balanced);
  return {
    traffic: { ...traffic, recordSizes: undefined },
    rateIsLimit: recordsPerSecond === undefined,
    balanced: design.balanced,
    plan: planStream({ ...traffic, placement: design.placement }),
    placement,
  };
}

/** Chooses balanced keys if the user wants them or if no number of shards is enough with MD5. */
function designOf(placed: SamplePlacement, balanced: boolean): { balanced: boolean; placement?: KeyPlacement } {
  const { shardsByHash, busiestShareByHash, shardsIfBalanced, busiestShareIfBalanced } = placed;
  if (shardsByHash !== undefined && !balanced) {
    return { balanced: false, placement: { shards: shardsByHash, busiestShare: busiestShareByHash! } };
  }
  if (shardsIfBalanced === undefined) return { balanced };
  return { balanced: true, placement: { shards: shardsIfBalanced, busiestShare: busiestShareIfBalanced! } };
}
