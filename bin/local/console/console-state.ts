import type { IndexShards } from '../../../lib/core/sharded-index/config/sharded-index-config';
import { HASH_KEY_SPACE, hashPartitionKey } from '../../../lib/core/stream-format/hash-key-space';
import { placeOf } from '../limits/dynamodb-gate';
import type { Load } from '../limits/traffic';
import type { Sharded } from '../sharded-configs';
import type { ValueHistory } from './count-history';
import { entryOf, type IndexEntry } from './index-entry';
import { type ConsumerState, consumerStates } from './stream-consumers';
import type { WatchedStack } from './watched-stack';

/** A shard and its hash key range, as a range of numbers from 0 to 1. */
interface ShardState extends Load {
  readonly shardId: string;
  readonly from: number;
  readonly to: number;
}

/** A partition key, or the owner of a hash key. The load of an owner includes all its partition keys. */
interface KeyState extends Load {
  readonly name: string;
  readonly placedBy: 'MD5' | 'hash key' | 'registry';
  /** The hash key of the records with this key, as a number from 0 to 1. */
  readonly at: number;
  /** The hash key that MD5 gives to the name, as a number from 0 to 1. */
  readonly md5At: number;
}

type EntryState = Load & IndexEntry;

/** The history of the shard counts since the start. */
interface CountsState {
  readonly maximum: number;
  /** The number of values whose counts have grown. */
  readonly values: number;
  /** The values whose counts changed most recently. */
  readonly latest: readonly ValueHistory[];
  /** The error message if the counts cannot be read. */
  readonly problem?: string;
}

interface IndexState {
  readonly path: string;
  /** Empty for a table that is sharded by its own key. */
  readonly index: string;
  /** The busiest entries that match the search. */
  readonly entries: readonly EntryState[];
  /** The number of partition keys that match the search. */
  readonly found: number;
  readonly partitionKeys: number;
  readonly shardCounts: IndexShards;
  /** Absent if the counts are fixed. */
  readonly counts?: CountsState;
}

/** The state that the page shows. All counts start at the beginning of the run, so a page can miss some states. */
export interface ConsoleState {
  readonly atMs: number;
  /** The search text. An empty text matches all values. */
  readonly search: string;
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
  readonly indexes: readonly IndexState[];
  readonly tables: readonly (Load & { readonly path: string })[];
  /** The functions that read streams. */
  readonly consumers: readonly ConsumerState[];
}

const BUSIEST_KEYS = 10;
const MAX_ENTRIES = 1_000;
const MAX_HISTORIES = 20;
const NOTHING: Load = { count: 0, amount: 0, throttled: 0 };

/** Returns the state of a stack that has gates. The state contains the index values that match the search text. */
export async function consoleState(watched: WatchedStack, search = ''): Promise<ConsoleState> {
  const { stack, gates } = watched;
  const { traffic, shards, limits } = gates;
  return {
    atMs: Math.round(performance.now()),
    search,
    limits: limits && {
      ...limits.kinesis.shardLimits,
      writeUnitsPerSecond: limits.dynamodb.keyLimits.writeUnitsPerSecond,
    },
    streams: await Promise.all(
      stack.streams.map(async ({ path, name }) => ({
        path,
        shards: (await shards.open(name)).map(({ shardId, startingHashKey, endingHashKey }) => ({
          shardId,
          from: part(startingHashKey),
          to: part(endingHashKey + 1n),
          ...(traffic.of(`shards ${name}`).get(shardId) ?? NOTHING),
        })),
        keys: busiestKeys(watched, name),
      })),
    ),
    indexes: watched.sharded.map((sharded) => indexState(watched, sharded, search)),
    tables: stack.tables.map(({ path, arn }) => ({ path, ...traffic.total(placeOf({ tableArn: arn })) })),
    consumers: await consumerStates(watched),
  };
}

/** The hash keys of the written records, the busiest hash keys first. */
export function busiestHashKeys({ gates: { traffic } }: WatchedStack, streamName: string): bigint[] {
  return busiest(traffic.of(`hash keys ${streamName}`), BUSIEST_KEYS).map(([hashKey]) => BigInt(hashKey));
}

/** The busiest owners of hash keys, and the busiest partition keys that have no owner. */
function busiestKeys(watched: WatchedStack, streamName: string): KeyState[] {
  const { traffic } = watched.gates;
  const owners = busiest(traffic.of(`hash keys ${streamName}`), BUSIEST_KEYS).flatMap(([text, load]): KeyState[] => {
    const owner = watched.ownerOf(streamName, BigInt(text));
    return owner === undefined ? [] : [keyState(owner, 'registry', BigInt(text), load)];
  });
  const keys: KeyState[] = [];
  for (const [text, load] of busiest(traffic.of(`keys ${streamName}`))) {
    if (keys.length === BUSIEST_KEYS) break;
    const [key, hashKey]: [string, string | null] = JSON.parse(text);
    if (hashKey === null) keys.push(keyState(key, 'MD5', hashPartitionKey(key), load));
    else if (watched.ownerOf(streamName, BigInt(hashKey)) === undefined) {
      keys.push(keyState(key, 'hash key', BigInt(hashKey), load));
    }
  }
  return [...owners, ...keys].sort((a, b) => loadOf(b) - loadOf(a)).slice(0, BUSIEST_KEYS);
}

function keyState(name: string, placedBy: KeyState['placedBy'], hashKey: bigint, load: Load): KeyState {
  return { name, placedBy, at: part(hashKey), md5At: part(hashPartitionKey(name)), ...load };
}

function indexState(watched: WatchedStack, sharded: Sharded, search: string): IndexState {
  const { stack, gates } = watched;
  const { config, path } = sharded;
  const tableArn = stack.tables.find(({ name }) => name === config.tableName)?.arn ?? '';
  const loads = gates.traffic.of(placeOf({ tableArn, indexName: config.indexName }));
  const entries = busiest(loads).map(([key, load]): EntryState => ({ ...entryOf(config, key), ...load }));
  const found = search === '' ? entries : searched(entries, search);
  const history = watched.historyOf(sharded);
  return {
    path,
    index: config.indexName ?? '',
    entries: found.slice(0, MAX_ENTRIES),
    found: found.length,
    partitionKeys: loads.size,
    shardCounts: config.shards,
    ...(history && {
      counts: {
        maximum: config.indexName === undefined ? 0 : config.adaptive!.maximum,
        values: history.size,
        latest: history.latest(MAX_HISTORIES),
        problem: history.problem,
      },
    }),
  };
}

/** The entries that match the search: first the exact value, then values that contain the text in any case. */
function searched(entries: readonly EntryState[], search: string): EntryState[] {
  const text = search.toLowerCase();
  const found = entries.filter(({ value }) => value.toLowerCase().includes(text));
  return [...found.filter(({ value }) => value === search), ...found.filter(({ value }) => value !== search)];
}

function busiest(loads: ReadonlyMap<string, Load>, most?: number): [string, Load][] {
  return [...loads].sort(([, a], [, b]) => loadOf(b) - loadOf(a)).slice(0, most);
}

function loadOf({ count, throttled }: Load): number {
  return count + throttled;
}

/** A hash key as a number from 0 to 1, rounded to a millionth, which is more precise than a screen. */
function part(hashKey: bigint): number {
  return Number((hashKey * 1_000_000n + HASH_KEY_SPACE / 2n) / HASH_KEY_SPACE) / 1_000_000;
}
