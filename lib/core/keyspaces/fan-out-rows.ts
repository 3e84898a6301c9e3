import { ShardsUnavailableError } from '../fan-out/fan-out-errors';
import type { CqlClient, CqlRow } from './cql-client';
import { type FanOutSelectOptions, fanOutSelect } from './fan-out-select';
import type { FanOutSelectRequest } from './fan-out-select-request';
import type { ShardedKeyspacesConfig } from './sharded-keyspaces-config';

/** A request to stream the rows of a sharded table. */
export interface FanOutRowsRequest extends FanOutSelectRequest {
  /**
   * The maximum number of rows of a page, at least 1. The generator holds one page in memory.
   * @default 1000
   */
  limit?: number;
}

const ROWS_AHEAD = 1_000;

/**
 * Streams all rows of a value from all its shards, in one order. The generator reads the next page when the consumer needs the
 * rows of that page:
 *
 *     for await (const blog of fanOutRows(client, config, { value: { publish_date: '2020-07-09' } })) show(blog);
 *
 * Use this function to process all rows. To show pages, use `fanOutSelect`. `deadlineMs` bounds the time of each page.
 *
 * @throws the errors of `fanOutSelect`, when the generator reads a page
 * @throws ShardsUnavailableError if `onShardFailure` is `partial` and a page lacks the rows of some shards; the generator
 *   returns the rows of the other shards first
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
