import type { Context } from 'aws-lambda';
import { RESERVED_MS } from '../../lib/core/contract/reserved-time';
import type { FanOutHistory } from '../../lib/core/fan-out/fan-out-history';
import type { PageBytes } from '../../lib/core/fan-out/page-bytes';
import type { AllowedColumns } from '../../lib/core/keyspaces/allowed-values';
import type { CqlClient, CqlRow } from '../../lib/core/keyspaces/cql-client';
import { type FanOutSelectPage, type FanOutSelectStats, fanOutSelect } from '../../lib/core/keyspaces/fan-out-select';
import type { ShardedKeyspacesConfig } from '../../lib/core/keyspaces/sharded-keyspaces-config';
import { checkValues } from './check-values';
import { plainRow } from './plain-row';
import { parseQueryEvent, type QueryEvent } from './query-event';

export interface QueryResponse {
  rows: Record<string, unknown>[];
  /**
   * Pass this cursor with the same query to read the next page, which may be empty. Absent if there are no more rows.
   */
  cursor?: string;
  /** The number of rows in the page. */
  count: number;
  /** The shards that are missing from a partial page. To get their rows, read this page again. */
  missingShards?: number[];
  stats: FanOutSelectStats;
}

/**
 * The maximum size of the rows in a response, in bytes: Lambda's limit of 6 MB minus space for the cursor and the other
 * fields. Source: the AWS Lambda quotas, invocation payload.
 */
const MAX_PAGE_BYTES = 6_000_000;

/** The maximum number of requests in flight. The connections of one client accept many more requests. */
const CONCURRENCY = 256;

/** The maximum share of requests that the function may send twice because the first response is late. */
const HEDGE_BUDGET = 0.02;

/** The objects that all invocations of an execution environment share. */
interface QueryEnvironment {
  client: CqlClient;
  tables: Record<string, ShardedKeyspacesConfig>;
  /** The only values that requests may read. Undefined if they may read any value. */
  values?: AllowedColumns;
  history: FanOutHistory;
}

/** Reads the page for an event. */
export async function queryPage(
  { client, tables, values, history }: QueryEnvironment,
  event: QueryEvent,
  context: Pick<Context, 'getRemainingTimeInMillis'>,
): Promise<{ page: FanOutSelectPage; response: QueryResponse }> {
  const { config, request, onShardFailure } = parseQueryEvent(tables, event);
  checkValues(values, config, request);
  const bounds: PageBytes<CqlRow> = {
    maxPageBytes: MAX_PAGE_BYTES,
    bytesOf: (row) => Buffer.byteLength(JSON.stringify(plainRow(row))) + 1,
  };
  const page = await fanOutSelect(client, config, request, {
    ...bounds,
    concurrency: CONCURRENCY,
    deadlineMs: Math.max(0, context.getRemainingTimeInMillis() - RESERVED_MS.keyspacesQuery),
    onShardFailure,
    hedgeBudget: HEDGE_BUDGET,
    history,
  });
  const { rows, cursor, missingShards, stats } = page;
  const response = {
    rows: rows.map(plainRow),
    ...(cursor !== undefined && { cursor }),
    count: rows.length,
    ...(missingShards && { missingShards }),
    stats,
  };
  return { page, response };
}
