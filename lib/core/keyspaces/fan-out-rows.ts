import { ShardsUnavailableError } from '../fan-out/fan-out-errors';
import type { CqlClient, CqlRow } from './cql-client';
import { type FanOutSelectOptions, fanOutSelect } from './fan-out-select';
import type { FanOutSelectRequest } from './fan-out-select-request';
import type { ShardedKeyspacesConfig } from './sharded-keyspaces-config';

/** What to read from a sharded table, page after page. */
export interface FanOutRowsRequest extends FanOutSelectRequest {
  /**
   * How many rows are read ahead at most, at least 1: the size of a page.
   * @default 1000
   */
  limit?: number;
}

const ROWS_AHEAD = 1_000;

/**
 * Reads all rows of a value from all its shards, in one order, a page at a time as the consumer takes them:
 *
 *     for await (const blog of fanOutRows(client, config, { value: { publish_date: '2020-07-09' } })) show(blog);
 *
 * Use it to go through everything. To show pages, use `fanOutSelect`. `deadlineMs` is the time for each page.
 *
 * @throws what `fanOutSelect` throws, when the page concerned is read; ShardsUnavailableError after the rows of a page that
 *   lacks the rows of some shards, with `onShardFailure: 'partial'`
 */
export async function* fanOutRows(
  client: CqlClient,
  config: ShardedKeyspacesConfig,
  request: FanOutRowsRequest,
  options: FanOutSelectOptions = {},
): AsyncGenerator<CqlRow, void, undefined> {
  let cursor = request.cursor;
  do {
    const page = await fanOutSelect(
      client,
      config,
      { ...request, limit: request.limit ?? ROWS_AHEAD, cursor },
      options,
    );
    yield* page.rows;
    if (page.missingShards !== undefined) throw new ShardsUnavailableError(page.missingShards);
    cursor = page.cursor;
  } while (cursor !== undefined);
}
