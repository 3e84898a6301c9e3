import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import type { Context } from 'aws-lambda';
import { FanOutHistory } from '../../lib/core/foundation/fan-out/fan-out-history';
import type { FanOutStats } from '../../lib/core/foundation/fan-out/fan-out-stats';
import type { FanOutReadOptions } from '../../lib/core/foundation/fan-out/read-policy';
import { INDEXES } from '../../lib/core/foundation/function-environment';
import { fanOutCount } from '../../lib/core/sharded-index/fan-out-count';
import { fanOutQuery } from '../../lib/core/sharded-index/fan-out-query';
import { itemToJson } from '../../lib/core/sharded-index/light-client/attribute-json';
import { lightQueryClient } from '../../lib/core/sharded-index/light-client/light-query-client';
import type { ShardedIndexConfig } from '../../lib/core/sharded-index/sharded-index-config';
import { functionMetrics, publishCounts } from '../embedded-metrics';
import { loggable } from '../loggable';
import { requiredEnvironment } from '../required-environment';
import { plainItem } from './plain-json';
import { type ParsedEvent, parseQueryEvent, type QueryEvent } from './query-event';
import { countMetrics, queryMetrics } from './query-metrics';

export interface QueryResponse {
  /** Absent if the event asks for a count. */
  items?: Record<string, unknown>[];
  /**
   * Pass it with the same query to read the next page, which may turn out to be empty, or to count the rest. Absent if
   * nothing can follow.
   */
  cursor?: string;
  /** How many items the page holds, or how many were counted. */
  count: number;
  /** The shards that are missing from a partial page. To get their items, ask for this page again. */
  missingShards?: number[];
  stats: FanOutStats;
}

/**
 * Bytes of items a response may hold: Lambda's limit of 6 MB, less room for the cursor and the rest.
 * Source: the AWS Lambda quotas, invocation payload.
 */
const MAX_PAGE_BYTES = 6_000_000;

/** The SDK's default of 50 sockets would queue the other shards of a wide fan-out. */
const MAX_SOCKETS = 256;
const AGENT = { maxSockets: MAX_SOCKETS };

/** If a shard does not answer for so long, the function asks it again on another connection. */
const SILENCE_MS = 5_000;

/** A page ends so long before its invocation ends, because the function needs this time to write and send 6 MB. */
const LAST_ANSWER_MS = 1_000;

/** The share of requests that may be sent twice to overtake a late one. */
const HEDGE_BUDGET = 0.02;

const indexes = JSON.parse(requiredEnvironment(INDEXES)) as Record<string, ShardedIndexConfig>;

/** The SDK makes no retries, because the fan-out query makes its own and knows throttled shards. */
const dynamoDb = lightQueryClient(
  new DynamoDB({
    maxAttempts: 1,
    requestHandler: new NodeHttpHandler({
      httpAgent: AGENT,
      httpsAgent: AGENT,
      requestTimeout: SILENCE_MS,
      throwOnRequestTimeout: true,
      socketTimeout: SILENCE_MS,
    }),
  }),
);

/** What all invocations of one execution environment have measured. */
const history = new FanOutHistory();

const metrics = functionMetrics();

type InvocationContext = Pick<Context, 'getRemainingTimeInMillis'>;

export const handler = loggable(handle);

async function handle(event: QueryEvent, context: InvocationContext): Promise<QueryResponse> {
  const parsed = parseQueryEvent(indexes, event);
  const { onShardFailure } = parsed;
  const options: FanOutReadOptions = {
    concurrency: MAX_SOCKETS,
    deadlineMs: Math.max(0, context.getRemainingTimeInMillis() - LAST_ANSWER_MS),
    onShardFailure,
    hedgeBudget: HEDGE_BUDGET,
    history,
  };
  return parsed.select === 'count' ? count(parsed, options) : page(parsed, options);
}

async function page({ config, request, format }: ParsedEvent, options: FanOutReadOptions): Promise<QueryResponse> {
  const toJson = format === 'plain' ? plainItem : itemToJson;
  const { items, ...rest } = await fanOutQuery(dynamoDb, config, request, {
    ...options,
    maxPageBytes: MAX_PAGE_BYTES,
    itemBytes: (item) => Buffer.byteLength(JSON.stringify(toJson(item))) + 1,
  });
  publishCounts(metrics, queryMetrics({ items, ...rest }));
  return { items: items.map(toJson), count: items.length, ...rest };
}

async function count({ config, request }: ParsedEvent, options: FanOutReadOptions): Promise<QueryResponse> {
  const counted = await fanOutCount(dynamoDb, config, request, options);
  publishCounts(metrics, countMetrics(counted));
  return counted;
}
