import type { ThrottleCause } from '../../lib/core/aws-client/throttle-causes';
import type { OpenShard } from '../../lib/core/resharding/open-shards';
import type { IndexKeyAttribute } from '../../lib/core/sharded-index/config/index-rejections';
import type { ShardedConfig } from '../../lib/core/sharded-index/config/sharded-index-config';
import type { SweepReason } from '../../lib/core/sharded-index/keeper/keeper-store';
import type {
  DeployedKeeper,
  DeployedResource,
  DeployedSharding,
  DeployedStream,
} from '../deployed-stack/stack-resources';
import type { CodeTable } from '../plan/cdk-snippet';
import type { KeyReport } from './contributor-insights';
import type { TableSample } from './table-sample';

/**
 * The observed state of a stack. In an account it comes from descriptions and metrics, in a local run from its traffic.
 */
export interface Observations {
  readonly streams: readonly StreamObservation[];
  readonly indexes: readonly IndexObservation[];
  readonly tables: readonly TableObservation[];
  /** The keys of tables and of indexes without shards. */
  readonly unsharded: readonly UnshardedKey[];
  readonly consumers: readonly ConsumerObservation[];
  readonly keepers: readonly KeeperObservation[];
  /** Measurements that the account did not allow, except traffic and busiest keys. */
  readonly missing: readonly (Missing & { readonly path: string; readonly noun: string })[];
}

/** The total stored and throttled records of a shard of a stream. */
export interface ShardLoad {
  readonly shardId: string;
  readonly records: number;
  readonly throttled: number;
}

export interface StreamObservation {
  readonly path: string;
  /** Empty if they are not measured. */
  readonly openShards: readonly OpenShard[];
  /** The shard count in the template. Absent if it is only known at deployment, or if auto scaling sets it. */
  readonly declaredShardCount?: number;
  /** The description of the stream. Absent if it is not measured. */
  readonly description?: StreamDescription;
  /** The load of the busiest minute. Absent if it was not measured. */
  readonly peak?: { readonly recordsPerSecond: number; readonly bytesPerSecond: number };
  /** Why the traffic was not measured. Absent if there is any measurement. */
  readonly missing?: Missing;
  /** Throttled writes. */
  readonly throttled: number;
  /** Absent if the loads of single shards are not measured. */
  readonly shardLoads?: readonly ShardLoad[];
  /** The maximum age of a record that a consumer reads, with or without enhanced fan-out. */
  readonly iteratorAgeHours?: number;
}

/** The settings of a stream. */
interface StreamDescription {
  readonly isProvisioned: boolean;
  readonly isEncrypted: boolean;
  readonly retentionHours: number;
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
  /** The throttled requests a second in the busiest minute. Absent if they were not measured. */
  readonly peakThrottled?: number;
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
  /** Why the traffic was not measured. Absent if there is any measurement. */
  readonly missing?: Missing;
  readonly writes: Traffic;
  readonly reads: Traffic;
}

export interface IndexObservation {
  readonly path: string;
  readonly config: ShardedConfig;
  /** Whether an `IndexKeeper` corrects the items, or only counts them. Absent without a keeper. */
  readonly keeper?: DeployedSharding['keeper'];
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
  /** Whether the table has point-in-time recovery. Absent if it was not measured. */
  readonly hasRecovery?: boolean;
  /** Whether the table is a construct of this library, as far as its metadata say. */
  readonly isSharded: boolean;
}

/** The key of a table, or of one of its indexes, that has no shards of this library. */
export interface UnshardedKey {
  readonly path: string;
  readonly tableName: string;
  /** Absent for the key of the table. */
  readonly indexName?: string;
  readonly key: readonly IndexKeyAttribute[];
  /** The table as code: the id and the keys. */
  readonly table: CodeTable;
  readonly owner: TableOwner;
  readonly throughput: Throughput;
  /** Whether absent metrics are reported. Some tables, such as tables of parked keys, are often idle. */
  readonly mustBeMeasured: boolean;
  /** The write units a second that the table or the index takes at once. Absent if DynamoDB does not describe them. */
  readonly warmWriteUnits?: number;
  /** The mean size of an entry in kilobytes. 1 if it is unknown. */
  readonly itemKb: number;
  /** The busiest keys, or the reason why they are unknown. Read only if DynamoDB throttles a hot partition. */
  readonly report?: KeyReport | Missing;
  /** Absent if the user did not ask for a sample, or if the account does not allow it. */
  readonly sample?: TableSample;
  /** The key attributes of the index that the user wants to add. */
  readonly wanted?: readonly IndexKeyAttribute[];
}

/** The owner of a table: a CDK app with this construct, another template, or unknown. */
export type TableOwner = 'TableV2' | 'Table' | 'otherTemplate' | 'unknown';

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

/** The state of an index keeper, and its metrics. */
export interface KeeperObservation extends MeasuredKeeper {
  readonly path: string;
  /** Whether the keeper corrects items. If not, it only counts. */
  readonly corrects: boolean;
  /** Why a sweep is due that no person has started. Absent if no sweep is due. */
  readonly sweepDue?: SweepReason;
  /** The number of items that are set aside: another program undoes the corrections, or DynamoDB rejects them. */
  readonly contested: number;
  readonly rejected: number;
}

/** The metrics of an index keeper. */
export interface MeasuredKeeper {
  /** Why the metrics were not measured. Absent if there is any measurement. */
  readonly missing?: Missing;
  /** The minutes in which a changed item waited for a minute or more. Absent if they were not measured. */
  readonly lateMinutes?: number;
  /** The longest time that a changed item waited, in seconds. */
  readonly delaySeconds?: number;
  /** How often the keeper found an item that it cannot keep in an index. */
  readonly notKept?: number;
}

/** The measured traffic. */
export interface Measured {
  /** Whether streams are emulated. An emulator does not encrypt, so the doctor reads the encryption in the template. */
  readonly isEmulated: boolean;
  /** @param consumers the names of the consumers with enhanced fan-out */
  stream(stream: DeployedStream, shardIds: readonly string[], consumers: readonly string[]): Promise<MeasuredStream>;
  index(sharding: DeployedSharding): Promise<MeasuredIndex>;
  /** The table without its indexes. */
  table(table: Pick<DeployedResource, 'path' | 'name'>): Promise<Throughput>;
  /** An index without shards. */
  unshardedIndex(tableName: string, indexName: string): Promise<Throughput>;
  keeper(keeper: Pick<DeployedKeeper, 'functionName'>): Promise<MeasuredKeeper>;
}

export type MeasuredStream = Pick<
  StreamObservation,
  'missing' | 'peak' | 'throttled' | 'shardLoads' | 'iteratorAgeHours'
>;
export type MeasuredIndex = Pick<IndexObservation, 'throughput' | 'entries' | 'valuesAtMaximum'>;

/** Why something was not measured, and how to measure it. */
export interface Missing {
  readonly why: string;
  readonly change: string;
}

/** An idle resource and missing metrics look the same, so the doctor reports both. */
export const NO_METRICS: Missing = {
  why: 'CloudWatch has no value: it had no traffic, or its metrics are missing',
  change: 'read more hours with --hours, or send traffic and run doctor again',
};

export function isMissing(measured: object): measured is Missing {
  return 'why' in measured;
}

/** The result of a measurement. If the account does not allow these actions, the reason why there is no result. */
export async function unlessDenied<T extends object>(
  actions: readonly string[],
  measure: () => Promise<T>,
): Promise<T | Missing> {
  try {
    return await measure();
  } catch (error) {
    if (!isDenied(error)) throw error;
    return { why: `access denied: ${(error as Error).message}`, change: `allow ${actions.join(' and ')}` };
  }
}

/** Whether the account does not allow a request. */
export function isDenied(error: unknown): boolean {
  return error instanceof Error && /AccessDenied|NotAuthorized|UnauthorizedOperation/.test(error.name);
}
