/**
 * `cdk-even-shards/planning`: computes how many shards a stream or an index needs.
 *
 * @module planning
 */
export { EvenShardsError, InvalidArgumentError, InvalidShardCountError } from '../kernel/errors';
export { alternatingKey, leftToRightKey } from './earlier-key-orders';
export { LIST_PRICES, type ListPrices } from './list-prices';
export { type OverloadThreshold, overloadProbability } from './overload-probability';
export type { LimitUse, PlanRule } from './plan';
export { type HotItemPlan, type ItemTraffic, planHotItem } from './plan-hot-item';
export { type IndexLimit, type IndexPlan, type IndexRule, type IndexTraffic, planIndex } from './plan-index';
export {
  type KeyPlacement,
  planStream,
  type StreamLimit,
  type StreamPlan,
  type StreamRule,
  type StreamTraffic,
  streamShards,
} from './plan-stream';
export { readUnitsPerPage } from './read-units-per-page';
export {
  describeExceeded,
  type ExceededServiceLimit,
  SERVICE_LIMITS,
  type ServiceLimit,
} from './service-limits';
export { shardsForOverload } from './shards-for-overload';
export { suffixRange } from './suffix-range';
export { weightedShards } from './weighted-shards';
