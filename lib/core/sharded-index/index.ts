/**
 * `cdk-even-shards/sharded-index`: writes items to sharded DynamoDB indexes and reads them back in ordered pages.
 *
 * @module sharded-index
 */

export type { TextCache } from '../foundation/answer-cache';
export type { AttributeValue, DynamoDbItem } from '../foundation/attribute-value';
export { calculatedShard } from '../foundation/calculated-shard';
export type { Clock } from '../foundation/clock';
export { EvenShardsError, InvalidArgumentError, InvalidShardCountError } from '../foundation/errors';
export { InvalidCursorError, ShardsUnavailableError } from '../foundation/fan-out/fan-out-errors';
export { FanOutHistory } from '../foundation/fan-out/fan-out-history';
export type { FanOutStats } from '../foundation/fan-out/fan-out-stats';
export type { FanOutReadOptions } from '../foundation/fan-out/read-policy';
export { randomShard } from '../foundation/random-shard';
export type { SortableValue } from './attribute-order';
export { cachedQueryClient } from './cached-query-client';
export { type FanOutCount, type FanOutCountRequest, fanOutCount } from './fan-out-count';
export { type FanOutItemStream, type FanOutItemsRequest, fanOutItems } from './fan-out-items';
export { type FanOutOptions, type FanOutPage, fanOutQuery } from './fan-out-query';
export type { FanOutOrder, FanOutRequest, FanOutValue } from './fan-out-request';
export {
  type LightQueryOptions,
  type LightQueryTrace,
  lightQueryClient,
  type SdkHttpResponse,
  type SdkQueryClient,
  type SdkQueryOptions,
  type SdkRequestHandler,
} from './light-client/light-query-client';
export type { SdkMiddlewareStack } from './light-client/routes';
export type { SigningCredentials } from './light-client/signature';
export { plainItem } from './plain-item';
export { type DrainRange, type IndexReshardStep, planIndexReshard } from './plan-index-reshard';
export { planTableReshard, type TableReshardStep } from './plan-table-reshard';
export type { IndexQueryInput, IndexQueryOutput, QueryClient } from './query-client';
export { shardAttributes } from './shard-attributes';
export type { IndexShardTarget } from './shard-count-change';
export { shardKey, shardKeys } from './shard-key';
export { type BatchInput, type PutInput, shardBatches, shardPut } from './shard-put';
export { type ItemChanges, shardUpdate, type UpdateExpression } from './shard-update';
export type {
  AdaptiveCounts,
  IndexShards,
  ShardCount,
  ShardedConfig,
  ShardedConfigSource,
  ShardedIndexConfig,
  ShardedTableConfig,
} from './sharded-index-config';
export {
  InvalidIndexConfigError,
  InvalidIndexValueError,
  InvalidSortKeyConditionError,
  UncertainShardError,
  UnknownIndexError,
} from './sharded-index-errors';
export type { SortKeyCondition, SortKeyValue } from './sort-key-select';
export { type FindStraysOptions, findStrays } from './strays/find-strays';
export { type ReshardItemsOptions, type ReshardTableItemsOptions, reshardItems } from './strays/reshard-items';
export type { SegmentOptions } from './strays/segment-options';
export type { Stray, StrayReason } from './strays/stray';
export {
  type ReshardItemsReport,
  type StrayOutcome,
  type StrayReport,
  StrayScanError,
} from './strays/stray-report';
export type {
  ItemMoveInput,
  ItemMoveOutput,
  ItemReadClient,
  ItemReadInput,
  ItemReadOutput,
  ItemReshardClient,
  ItemTransferClient,
  ItemTransferInput,
  ItemTransferOutput,
  TableScanClient,
  TableScanInput,
  TableScanOutput,
  TransferCondition,
  TransferWrite,
} from './strays/table-client';
export {
  type TransactCondition,
  type TransactGet,
  type TransactPutOptions,
  type TransactWrite,
  transactDelete,
  transactGet,
  transactPut,
} from './transact-items';
export type { WriteExpression } from './write-expression';
