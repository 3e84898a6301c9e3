import { ShardsUnavailableError } from '../fan-out/fan-out-errors';
import { noCost } from '../fan-out/fan-out-stats';
import { type FanOutReadOptions, readPolicy } from '../fan-out/read-policy';
import type { CqlClient } from './cql-client';
import { type FanOutSelectPage, type FanOutSelectStats, fanOutSelect, selectStats } from './fan-out-select';
import type { FanOutSelectRequest } from './fan-out-select-request';
import type { ShardedKeyspacesConfig } from './sharded-keyspaces-config';

/** What to count in a sharded table. */
export type FanOutSelectCountRequest = Omit<FanOutSelectRequest, 'order' | 'limit' | 'projection'>;

/** A count over all shards. */
export interface FanOutSelectCount {
  /** How many rows were counted, without those of the missing shards. */
  count: number;
  /**
   * Pass it with the same request to count the rest, and add the counts. Present only if the deadline came before all was
   * counted.
   */
  cursor?: string;
  /** Shards that could not be read, or only in part, as the shard column holds them. Absent if all were read. */
  missingShards?: number[];
  /** The cost of the count. It is that of reading the rows: Amazon Keyspaces has no other way to count. */
  stats: FanOutSelectStats;
}

/** How many keys are in memory at once. Each takes some hundred bytes. */
const ROWS_AT_ONCE = 50_000;

/**
 * Counts the rows of a value over all its shards, by reading their keys: Amazon Keyspaces does not count rows by itself.
 *
 * `deadlineMs` is the time for the whole count. At the deadline it ends with what was counted, and a cursor.
 *
 * @throws what `fanOutSelect` throws; ShardsUnavailableError if the deadline came before anything was counted
 */
export async function fanOutSelectCount(
  client: CqlClient,
  config: ShardedKeyspacesConfig,
  request: FanOutSelectCountRequest,
  options: FanOutReadOptions = {},
): Promise<FanOutSelectCount> {
  const { clock, deadlineMs } = readPolicy(options);
  const endsAtMs = deadlineMs === undefined ? undefined : clock.now() + deadlineMs;
  const stats = selectStats(noCost(0));
  const missing = new Set<number>();
  let [count, cursor]: [number, string | undefined] = [0, request.cursor];
  const pageBehind = async (): Promise<FanOutSelectPage | undefined> => {
    const left = endsAtMs === undefined ? {} : { deadlineMs: Math.max(0, endsAtMs - clock.now()) };
    const keys = config.clusteringColumns.map(({ name }) => name);
    const select = { ...request, cursor, order: 'unordered', limit: ROWS_AT_ONCE, projection: keys } as const;
    try {
      return await fanOutSelect(client, config, select, { ...options, ...left });
    } catch (error) {
      if (error instanceof ShardsUnavailableError && count > 0) return undefined;
      throw error;
    }
  };
  do {
    const page = await pageBehind();
    if (page === undefined) break;
    count += page.rows.length;
    for (const shard of page.missingShards ?? []) missing.add(shard);
    addStats(stats, page.stats);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return { count, ...(cursor && { cursor }), ...(missing.size > 0 && { missingShards: [...missing] }), stats };
}

function addStats(sum: FanOutSelectStats, page: FanOutSelectStats): void {
  const { shards, ...counted } = page;
  sum.shards = Math.max(sum.shards, shards);
  for (const name of Object.keys(counted) as (keyof typeof counted)[]) sum[name] += page[name];
}
