import type { Context } from 'aws-lambda';
import type { FanOutHistory } from '../../lib/core/foundation/fan-out/fan-out-history';
import type { CqlClient } from '../../lib/core/keyspaces/cql-client';
import { type FanOutSelectPage, type FanOutSelectStats, fanOutSelect } from '../../lib/core/keyspaces/fan-out-select';
import type { ShardedKeyspacesConfig } from '../../lib/core/keyspaces/sharded-keyspaces-config';
import { plainRow } from './plain-row';
import { parseQueryEvent, type QueryEvent } from './query-event';

export interface QueryResponse {
  rows: Record<string, unknown>[];
  /** Give it to the same query for the next page. Absent when nothing can follow; that page may turn out empty. */
  cursor?: string;
  /** How many rows the page holds. */
  count: number;
  /** Shards that are missing from the page, of a query that may do without: ask again to have them. */
  missingShards?: number[];
  stats: FanOutSelectStats;
}

/**
 * Bytes of rows a response may hold: Lambda's limit of 6 MB, less room for the cursor and the rest.
 * Source: the AWS Lambda quotas, invocation payload.
 */
const MAX_PAGE_BYTES = 6_000_000;

/** Requests in flight at once: a fraction of what the connections of one client take. */
const CONCURRENCY = 256;

/** A page ends so long before its invocation does: what it takes to write and to send 6 MB. */
const LAST_ANSWER_MS = 1_000;

/** The share of requests that may be sent twice to overtake a late one. */
const HEDGE_BUDGET = 0.02;

/** What the invocations of one environment have in common. */
interface QueryEnvironment {
  client: CqlClient;
  tables: Record<string, ShardedKeyspacesConfig>;
  history: FanOutHistory;
}

/** The page that an event asks for, and the response that it makes. */
export async function queryPage(
  { client, tables, history }: QueryEnvironment,
  event: QueryEvent,
  context: Pick<Context, 'getRemainingTimeInMillis'>,
): Promise<{ page: FanOutSelectPage; response: QueryResponse }> {
  const { config, request, onShardFailure } = parseQueryEvent(tables, event);
  const page = await fanOutSelect(client, config, request, {
    maxPageBytes: MAX_PAGE_BYTES,
    rowBytes: (row) => Buffer.byteLength(JSON.stringify(plainRow(row))) + 1,
    concurrency: CONCURRENCY,
    deadlineMs: Math.max(0, context.getRemainingTimeInMillis() - LAST_ANSWER_MS),
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
