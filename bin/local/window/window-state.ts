import { INDEXES } from '../../../lib/core/foundation/function-environment';
import { HASH_KEY_SPACE, hashPartitionKey } from '../../../lib/core/foundation/hash-key-space';
import type { ShardedIndexConfig } from '../../../lib/core/sharded-index/sharded-index-config';
import { placeOf } from '../gate/dynamodb-gate';
import type { Gates } from '../gate/gates';
import type { Load } from '../gate/traffic';
import type { LocalStack } from '../run-local';
import { entryOf, type IndexEntry } from './index-entry';

/** A part of the hash key space, from 0 to 1. */
interface ShardState extends Load {
  readonly shardId: string;
  readonly from: number;
  readonly to: number;
}

interface KeyState extends Load {
  readonly key: string;
  /** Where it lies in the hash key space, from 0 to 1. */
  readonly at: number;
  /** Whether an explicit hash key puts it there, such as a registry's, and not its MD5. */
  readonly isPlaced: boolean;
}

type EntryState = Load & IndexEntry;

/** All that a window shows at a moment; counts since the start, so that a window that missed some knows all the same. */
export interface WindowState {
  readonly atMs: number;
  readonly limits?: {
    readonly recordsPerSecond: number;
    readonly bytesPerSecond: number;
    readonly writeUnitsPerSecond: number;
  };
  readonly streams: readonly {
    readonly path: string;
    readonly shards: readonly ShardState[];
    readonly keys: readonly KeyState[];
  }[];
  readonly indexes: readonly {
    readonly path: string;
    readonly index: string;
    /** The busiest, of so many partition keys. */
    readonly entries: readonly EntryState[];
    readonly partitionKeys: number;
    readonly shardCounts: ShardedIndexConfig['shards'];
  }[];
  readonly tables: readonly (Load & { readonly path: string })[];
}

const BUSIEST_KEYS = 10;
const MOST_ENTRIES = 1_000;
const NOTHING: Load = { count: 0, amount: 0, throttled: 0 };

/** The state of a stack whose endpoints are behind gates. */
export async function windowState(stack: LocalStack, gates: Gates): Promise<WindowState> {
  const { traffic, shards, limits } = gates;
  return {
    atMs: Math.round(performance.now()),
    limits: limits && {
      ...limits.kinesis.shardLimits,
      writeUnitsPerSecond: limits.dynamodb.keyLimits.writeUnitsPerSecond,
    },
    streams: await Promise.all(
      stack.streams.map(async ({ path, name }) => ({
        path,
        shards: (await shards.open(name)).map(({ shardId, range }) => ({
          shardId,
          from: part(range.startingHashKey),
          to: part(range.endingHashKey + 1n),
          ...(traffic.of(`shards ${name}`).get(shardId) ?? NOTHING),
        })),
        keys: busiest(traffic.of(`keys ${name}`), BUSIEST_KEYS).map(([text, load]) => {
          const [key, explicitHashKey] = JSON.parse(text);
          const at = part(explicitHashKey === null ? hashPartitionKey(key) : BigInt(explicitHashKey));
          return { key, at, isPlaced: explicitHashKey !== null, ...load };
        }),
      })),
    ),
    indexes: queriedIndexes(stack).map(({ config }) => {
      const path = tablePathOf(stack, config);
      const loads = traffic.of(placeOf({ tableArn: arnOf(stack, config), indexName: config.indexName }));
      const entries = busiest(loads, MOST_ENTRIES).map(([key, load]) => ({ ...entryOf(config, key), ...load }));
      return { path, index: config.indexName ?? '', entries, partitionKeys: loads.size, shardCounts: config.shards };
    }),
    tables: stack.tables.map(({ path, arn }) => ({ path, ...traffic.total(placeOf({ tableArn: arn })) })),
  };
}

interface QueriedIndex {
  readonly functionPath: string;
  /** What a request calls it. */
  readonly name: string;
  readonly config: ShardedIndexConfig;
}

/** The sharded indexes that a function of the app queries. */
export function queriedIndexes({ functions }: LocalStack): QueriedIndex[] {
  const all = functions.flatMap(({ path, environment }) => {
    const configs = JSON.parse(environment[INDEXES] ?? '{}') as Record<string, ShardedIndexConfig>;
    return Object.entries(configs).map(([name, config]) => ({ functionPath: path, name, config }));
  });
  return [...new Map(all.map((index) => [`${index.config.tableName} ${index.config.indexName}`, index])).values()];
}

export function tablePathOf({ tables }: LocalStack, { tableName }: ShardedIndexConfig): string {
  return tables.find(({ name }) => name === tableName)?.path ?? tableName;
}

function arnOf({ tables }: LocalStack, { tableName }: ShardedIndexConfig): string {
  return tables.find(({ name }) => name === tableName)?.arn ?? '';
}

function busiest(loads: ReadonlyMap<string, Load>, most: number): [string, Load][] {
  return [...loads].sort(([, a], [, b]) => b.count + b.throttled - (a.count + a.throttled)).slice(0, most);
}

/** Exact to a millionth, which is more than a screen shows. */
function part(hashKey: bigint): number {
  return Number((hashKey * 1_000_000n + HASH_KEY_SPACE / 2n) / HASH_KEY_SPACE) / 1_000_000;
}
