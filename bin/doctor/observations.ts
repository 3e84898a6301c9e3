import type { ThrottleCause } from '../../lib/core/aws-client/throttle-causes';
import type { OpenShard } from '../../lib/core/resharding/open-shards';
import type { ShardedConfig } from '../../lib/core/sharded-index/config/sharded-index-config';
import type { DeployedResource, DeployedSharding, DeployedStream } from '../deployed-stack/stack-resources';

/**
 * The observed state of a stack. In an account it comes from descriptions and metrics, in a local run from its traffic.
 */
export interface Observations {
  readonly streams: readonly StreamObservation[];
  readonly indexes: readonly IndexObservation[];
  readonly tables: readonly TableObservation[];
  readonly consumers: readonly ConsumerObservation[];
}

/** The total stored and throttled records of a shard of a stream. */
export interface ShardLoad {
  readonly shardId: string;
  readonly records: number;
  readonly throttled: number;
}

export interface StreamObservation {
  readonly path: string;
  readonly openShards: readonly OpenShard[];
  /** The shard count in the template. Absent if it is only known at deployment, or if auto scaling sets it. */
  readonly declaredShardCount?: number;
  readonly isProvisioned: boolean;
  readonly isEncrypted: boolean;
  readonly retentionHours: number;
  /** The load of the busiest minute. Absent if it was not measured. */
  readonly peak?: { readonly recordsPerSecond: number; readonly bytesPerSecond: number };
  /** Whether there is any measurement. Without a measurement, the stream is idle, or its metrics are missing. */
  readonly isMeasured: boolean;
  /** Throttled writes. */
  readonly throttled: number;
  /** Absent if the loads of single shards are not measured. */
  readonly shardLoads?: readonly ShardLoad[];
  /** The maximum iterator age. */
  readonly iteratorAgeHours?: number;
}

/** The stored and throttled writes of one shard of one value of an index. */
interface EntryLoad {
  readonly value: string;
  readonly shard: number;
  readonly writes: number;
  readonly throttled: number;
}

/** The consumed and throttled units of a table or an index, for reads or for writes, and its capacity limits. */
export interface Traffic {
  /** The consumed units a second in the busiest minute. Absent if they were not measured. */
  readonly peakUnits?: number;
  /** Requests that were throttled for any cause. */
  readonly throttled: number;
  /** Throttled requests by cause. A cause without throttled requests is absent. */
  readonly byCause: Readonly<Partial<Record<ThrottleCause, number>>>;
  /** The provisioned units a second. Absent if the table is billed on demand. */
  readonly provisioned?: number;
  /** The maximum units a second of auto scaling in the template. Absent without auto scaling. */
  readonly scalesTo?: number;
  /** The user's maximum of units a second for an on-demand table. */
  readonly maximum?: number;
}

/** The traffic of a table or an index. */
export interface Throughput {
  /**
   * Whether there is any measurement. Without a measurement, the table or the index is idle, or its metrics are
   * missing.
   */
  readonly isMeasured: boolean;
  readonly writes: Traffic;
  readonly reads: Traffic;
}

export interface IndexObservation {
  readonly path: string;
  readonly config: ShardedConfig;
  /** The status of the index in DynamoDB, such as `ACTIVE`. */
  readonly status?: string;
  readonly throughput: Throughput;
  /** Absent if the loads of single values are not measured. */
  readonly entries?: readonly EntryLoad[];
  /** Items that no query finds because of their shard. Absent if the table was not scanned. */
  readonly hiddenItems?: number;
  /** Items that the index does not contain because they lack its sort key. Absent if the table was not scanned. */
  readonly unsortedItems?: number;
  /** Values that need more shards than the maximum of adaptive counts. */
  readonly valuesAtMaximum: number;
}

export interface TableObservation {
  readonly path: string;
  readonly hasRecovery: boolean;
  /** Whether the table has sharded indexes. Tables without sharded indexes, such as tables of parked keys, are often idle without a problem. */
  readonly hasShardedIndexes: boolean;
  /** Absent if the table is sharded by its own key: its `IndexObservation` then has the throughput. */
  readonly throughput?: Throughput;
}

/** The parked keys of an ordered consumer. */
export interface ConsumerObservation {
  readonly path: string;
  readonly tableName: string;
  readonly consumer: string;
  readonly parkedKeys: number;
  readonly deadKeys: number;
  /** The endpoint of the table of parked keys, if that table is not in the account. */
  readonly endpoint?: string;
}

/** The measured traffic. */
export interface Measured {
  /** Whether streams are emulated. An emulator does not encrypt, so the doctor reads the encryption in the template. */
  readonly isEmulated: boolean;
  stream(stream: DeployedStream, shardIds: readonly string[]): Promise<MeasuredStream>;
  index(sharding: DeployedSharding): Promise<MeasuredIndex>;
  /** The table without its indexes. */
  table(table: Pick<DeployedResource, 'path' | 'name'>): Promise<Throughput>;
}

export type MeasuredStream = Pick<
  StreamObservation,
  'isMeasured' | 'peak' | 'throttled' | 'shardLoads' | 'iteratorAgeHours'
>;
export type MeasuredIndex = Pick<IndexObservation, 'throughput' | 'entries' | 'valuesAtMaximum'>;
