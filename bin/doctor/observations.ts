import type { OpenShard } from '../../lib/core/resharding/open-shards';
import type { ShardedConfig } from '../../lib/core/sharded-index/config/sharded-index-config';

/** What a doctor knows of a stack: of an account, by its descriptions and metrics; of a local run, by what has passed there. */
export interface Observations {
  readonly streams: readonly StreamObservation[];
  readonly indexes: readonly IndexObservation[];
  readonly tables: readonly TableObservation[];
  readonly consumers: readonly ConsumerObservation[];
}

/** What went into a shard of a stream in all, and what it has refused. */
export interface ShardLoad {
  readonly shardId: string;
  readonly records: number;
  readonly throttled: number;
}

export interface StreamObservation {
  readonly path: string;
  readonly openShards: readonly OpenShard[];
  /** What the template says; absent if only the deployment knows it, or if something else decides it. */
  readonly declaredShardCount?: number;
  readonly isProvisioned: boolean;
  readonly isEncrypted: boolean;
  readonly retentionHours: number;
  /** In the busiest minute. Absent where nothing has measured it. */
  readonly peak?: { readonly recordsPerSecond: number; readonly bytesPerSecond: number };
  /** Writes that were refused. */
  readonly throttled: number;
  /** Absent where nothing measures single shards. */
  readonly shardLoads?: readonly ShardLoad[];
  /** How old the record was that a consumer has read, at the most. */
  readonly iteratorAgeHours?: number;
}

/** What went into one shard of one value of an index, and what it has refused. */
interface EntryLoad {
  readonly value: string;
  readonly shard: number;
  readonly writes: number;
  readonly throttled: number;
}

export interface IndexObservation {
  readonly path: string;
  readonly config: ShardedConfig;
  /** What DynamoDB says of an index, such as `ACTIVE`. */
  readonly status?: string;
  /** Writes that were refused because of it. */
  readonly throttled: number;
  /** In the busiest minute. Absent where nothing has measured it. */
  readonly peakWriteUnits?: number;
  /** Absent where nothing measures single values. */
  readonly entries?: readonly EntryLoad[];
  /** Items that no query finds. Absent if nobody has looked. */
  readonly hiddenItems?: number;
  /** Values that need more shards than the maximum of adaptive counts. */
  readonly valuesAtMaximum: number;
}

export interface TableObservation {
  readonly path: string;
  readonly hasRecovery: boolean;
}

/** The keys that an ordered consumer has set aside. */
export interface ConsumerObservation {
  readonly path: string;
  readonly tableName: string;
  readonly consumer: string;
  readonly parkedKeys: number;
  readonly deadKeys: number;
  /** Where its table is, if not in the account. */
  readonly endpoint?: string;
}
