/**
 * `cdk-even-shards/sharded-index`: writes items to sharded DynamoDB indexes and reads them back in ordered pages.
 *
 * @module sharded-index
 */

export type { AttributeValue, DynamoDbItem } from '../aws-client/attribute-value';
export type {
  SdkClient,
  SdkHttpResponse,
  SdkRequestHandler,
  SdkRequestOptions,
} from '../aws-client/light-request';
export type { SdkMiddlewareStack } from '../aws-client/routes';
export type { SigningCredentials } from '../aws-client/signature';
export { InvalidCursorError, ShardsUnavailableError, WrongOrderError } from '../fan-out/fan-out-errors';
export { FanOutHistory } from '../fan-out/fan-out-history';
export type { FanOutStats } from '../fan-out/fan-out-stats';
export type { FanOutOrder } from '../fan-out/page-request';
export type { FanOutReadOptions } from '../fan-out/read-policy';
export type { Clock } from '../kernel/clock';
export { EvenShardsError, InvalidArgumentError, InvalidShardCountError } from '../kernel/errors';
export { NewerFormatError, type StoredFormat } from '../kernel/format-version';
export { calculatedShard } from '../sharding/calculated-shard';
export { randomShard } from '../sharding/random-shard';
export { type DrainRange, type IndexReshardStep, planIndexReshard } from './change/plan-index-reshard';
export { planTableReshard, type TableReshardStep } from './change/plan-table-reshard';
export type { IndexShardTarget } from './change/shard-count-change';
export { cachedQueryClient } from './client/cached-query-client';
export {
  type LightQueryOptions,
  type LightQueryTrace,
  lightQueryClient,
  type SdkQueryClient,
} from './client/light-query-client';
export type { IndexQueryInput, IndexQueryOutput, QueryClient } from './client/query-client';
export type { TextCache } from './client/response-cache';
export type {
  AdaptiveCounts,
  IndexShards,
  ShardCount,
  ShardedConfig,
  ShardedConfigSource,
  ShardedIndexConfig,
  ShardedTableConfig,
} from './config/sharded-index-config';
export {
  IndexNotFoundError,
  IndexNotReadyError,
  InvalidIndexConfigError,
  InvalidIndexValueError,
  InvalidSortKeyConditionError,
  QueryRejectedError,
  UncertainShardError,
  UnknownIndexError,
} from './config/sharded-index-errors';
export type { SortableValue } from './query/attribute-order';
export { type FanOutCount, type FanOutCountRequest, fanOutCount } from './query/fan-out-count';
export { type FanOutItemStream, type FanOutItemsRequest, fanOutItems } from './query/fan-out-items';
export { type FanOutOptions, type FanOutPage, fanOutQuery } from './query/fan-out-query';
export type { FanOutRequest, FanOutValue } from './query/fan-out-request';
export { plainItem } from './query/plain-item';
export type { SortKeyCondition, SortKeyValue } from './query/sort-key-select';
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
export { shardAttributes, shardAttributesOfUpdate } from './write/shard-attributes';
export { shardKey, shardKeys } from './write/shard-key';
export { type BatchInput, type PutInput, shardBatches, shardPut } from './write/shard-put';
export { type ItemChanges, shardUpdate, type UpdateExpression } from './write/shard-update';
export {
  type TransactCondition,
  type TransactGet,
  type TransactPutOptions,
  type TransactWrite,
  transactDelete,
  transactGet,
  transactPut,
} from './write/transact-items';
export type { WriteExpression } from './write/write-expression';
