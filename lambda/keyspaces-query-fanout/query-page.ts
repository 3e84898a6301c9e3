import type { Context } from 'aws-lambda';
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
  /** Give it to the same query for the next page, which may turn out empty. Absent when nothing can follow. */
  cursor?: string;
  /** How many rows the page holds. */
  count: number;
  /** The shards that are missing from a partial page. To get their rows, ask for this page again. */
  missingShards?: number[];
  stats: FanOutSelectStats;
}

/**
 * Bytes of rows a response may hold: Lambda's limit of 6 MB, less room for the cursor and the rest.
 * Source: the AWS Lambda quotas, invocation payload.
 */
const MAX_PAGE_BYTES = 6_000_000;

/** The most requests in flight, which is a fraction of what the connections of one client accept. */
const CONCURRENCY = 256;

/** A page ends this long before its invocation ends, because the function needs this time to write and send 6 MB. */
const LAST_ANSWER_MS = 1_000;

/** The share of requests that may be sent twice to overtake a late one. */
const HEDGE_BUDGET = 0.02;

/** What all invocations of one execution environment share. */
interface QueryEnvironment {
  client: CqlClient;
  tables: Record<string, ShardedKeyspacesConfig>;
  /** The only values that requests may name. Undefined if they may name any value. */
  values?: AllowedColumns;
  history: FanOutHistory;
}

/** Reads the page that an event asks for, and returns the response. */
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
