import { ShardsUnavailableError } from '../fan-out/fan-out-errors';
import { noCost } from '../fan-out/fan-out-stats';
import { type FanOutReadOptions, readPolicy } from '../fan-out/read-policy';
import type { CqlClient } from './cql-client';
import { type FanOutSelectPage, type FanOutSelectStats, fanOutSelect, selectStats } from './fan-out-select';
import type { FanOutSelectRequest } from './fan-out-select-request';
import type { ShardedKeyspacesConfig } from './sharded-keyspaces-config';

/** A request to count the rows of a sharded table. */
export type FanOutSelectCountRequest = Omit<FanOutSelectRequest, 'order' | 'limit' | 'projection'>;

/** A count over all shards. */
export interface FanOutSelectCount {
  /** The number of rows, without the rows of the missing shards. */
  count: number;
  /**
   * Pass the cursor with the same request to count the remaining rows, and add the counts. Present only if the deadline ended
   * the count early.
   */
  cursor?: string;
  /**
   * The shards that the query could not read, or could read only in part, as values of the shard column. Absent if the query
   * read all shards.
   */
  missingShards?: number[];
  /** The cost of the count. A count reads all rows, because Amazon Keyspaces has no cheaper way to count. */
  stats: FanOutSelectStats;
}

/** The maximum number of keys that the count holds in memory. Each key takes several hundred bytes. */
const ROWS_AT_ONCE = 50_000;

/**
 * Counts the rows of a value over all its shards. The function reads the keys of the rows, because Amazon Keyspaces does not
 * count rows.
 *
 * `deadlineMs` bounds the time of the whole count. At the deadline, the result has the count of the rows that were read, and a
 * cursor.
 *
 * @throws the errors of `fanOutSelect`
 * @throws ShardsUnavailableError if the deadline passed before any row was counted
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
  const nextPage = async (): Promise<FanOutSelectPage | undefined> => {
    const remaining = endsAtMs === undefined ? {} : { deadlineMs: Math.max(0, endsAtMs - clock.now()) };
    const keys = config.clusteringColumns.map(({ name }) => name);
    const projection = keys.length > 0 ? keys : [config.shardColumn];
    const select = { ...request, cursor, order: 'unordered', limit: ROWS_AT_ONCE, projection } as const;
    try {
      return await fanOutSelect(client, config, select, { ...options, ...remaining });
    } catch (error) {
      if (error instanceof ShardsUnavailableError && count > 0) return undefined;
      throw error;
    }
  };
  do {
    const page = await nextPage();
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
