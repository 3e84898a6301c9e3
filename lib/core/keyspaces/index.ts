/**
 * `cdk-even-shards/keyspaces`: writes rows to sharded Cassandra tables and reads them back in ordered pages.
 *
 * @module keyspaces
 */

export { InvalidCursorError, ShardsUnavailableError, WrongOrderError } from '../fan-out/fan-out-errors';
export { FanOutHistory } from '../fan-out/fan-out-history';
export type { FanOutOrder } from '../fan-out/page-request';
export type { FanOutReadOptions } from '../fan-out/read-policy';
export type { Clock } from '../kernel/clock';
export { EvenShardsError, InvalidArgumentError, InvalidShardCountError } from '../kernel/errors';
export { NewerFormatError, type StoredFormat } from '../kernel/format-version';
export type { IndexShards, ShardCount } from '../sharded-index';
export { calculatedShard } from '../sharding/calculated-shard';
export { randomShard } from '../sharding/random-shard';
export {
  type CqlClient,
  type CqlRow,
  KEYSPACES_WRITE_OPTIONS,
  type ReadConsistency,
  type StatementOptions,
  type StatementResult,
} from './cql-client';
export type { CqlKeyType } from './cql-key-type';
export { type FanOutRowsRequest, fanOutRows } from './fan-out-rows';
export {
  type FanOutSelectOptions,
  type FanOutSelectPage,
  type FanOutSelectStats,
  fanOutSelect,
} from './fan-out-select';
export {
  type FanOutSelectCount,
  type FanOutSelectCountRequest,
  fanOutSelectCount,
} from './fan-out-select-count';
export type { ClusteringCondition, CqlValue, FanOutSelectRequest } from './fan-out-select-request';
export {
  InvalidClusteringConditionError,
  InvalidColumnValueError,
  InvalidTableConfigError,
  UnknownColumnError,
  UnknownPartitionerError,
  UnknownTableError,
  UnreadableRowError,
} from './keyspaces-errors';
export { productOfCodePoints } from './product-of-code-points';
export { type ReshardRowsOptions, type ReshardRowsReport, reshardRows } from './reshard-rows';
export type { StrayRowOutcome } from './row-mover';
export { type SelectRowOptions, selectRow } from './select-row';
export { shardColumns } from './shard-columns';
export type { ClusteringColumn, KeyColumn, ShardedKeyspacesConfig } from './sharded-keyspaces-config';
export { findStrayRows, type StrayRow, type StrayRowsOptions, type StrayRowsReport } from './stray-rows';
