import { DynamoDBClient, QueryCommand } from '@aws-sdk/client-dynamodb';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import type { Context } from 'aws-lambda';
import { AdaptiveIndex } from '../../lib/core/adaptive-counts/adaptive-index';
import { DynamoDbShardCountReader } from '../../lib/core/adaptive-counts/dynamodb-shard-count-store';
import type { DynamoDbItem } from '../../lib/core/aws-client/attribute-value';
import { type AllowedValues, checkAllowedValues } from '../../lib/core/contract/allowed-values';
import { CACHE_MS, INDEXES, TABLES, VALUES } from '../../lib/core/contract/function-environment';
import { RESERVED_MS } from '../../lib/core/contract/reserved-time';
import { FanOutHistory } from '../../lib/core/fan-out/fan-out-history';
import { type FanOutStats, noCost } from '../../lib/core/fan-out/fan-out-stats';
import type { PageBytes } from '../../lib/core/fan-out/page-bytes';
import type { FanOutReadOptions } from '../../lib/core/fan-out/read-policy';
import { itemToJson } from '../../lib/core/sharded-index/client/attribute-json';
import { lightQueryClient } from '../../lib/core/sharded-index/client/light-query-client';
import type { ShardedIndexConfig } from '../../lib/core/sharded-index/config/sharded-index-config';
import { fanOutCount } from '../../lib/core/sharded-index/query/fan-out-count';
import { fanOutQuery } from '../../lib/core/sharded-index/query/fan-out-query';
import { boundValues } from '../bound-values';
import { functionMetrics, publishCounts } from '../embedded-metrics';
import { loggable } from '../loggable';
import { requiredEnvironment } from '../required-environment';
import { jsonItem } from './json-item';
import { pageCache } from './page-cache';
import { type ParsedEvent, parseQueryEvent, type QueryEvent, type Stores } from './query-event';
import { cacheHitMetrics, countMetrics, queryMetrics } from './query-metrics';

/**
 * The maximum size of the items in a response, in bytes: Lambda's limit of 6 MB minus space for the cursor and the
 * other fields. Source: the AWS Lambda quotas, invocation payload.
 */
const MAX_PAGE_BYTES = 6_000_000;

/** The maximum number of sockets. With the SDK's default of 50 sockets, requests for more than 50 shards would wait. */
const MAX_SOCKETS = 256;
const AGENT = { maxSockets: MAX_SOCKETS };

/** If DynamoDB does not respond for this time, the function sends the request again on another connection. */
const SILENCE_MS = 5_000;

/** The maximum share of requests that the function may send twice because the first response is late. */
const HEDGE_BUDGET = 0.02;

const { [INDEXES]: indexes = '{}', [TABLES]: tables = '{}', [CACHE_MS]: cacheMs, [VALUES]: values } = process.env;
/** The SDK makes no retries, because the fan-out query makes its own retries and recognises throttled shards. */
const sdk = new DynamoDBClient({
  maxAttempts: 1,
  requestHandler: new NodeHttpHandler({
    httpAgent: AGENT,
    httpsAgent: AGENT,
    requestTimeout: SILENCE_MS,
    throwOnRequestTimeout: true,
    socketTimeout: SILENCE_MS,
  }),
});

/** The bundle contains only the query command, because each bundled command makes a cold start longer. */
const dynamoDb = lightQueryClient({
  config: sdk.config,
  middlewareStack: sdk.middlewareStack,
  query: (input, options) => sdk.send(new QueryCommand(input), options),
});

/** The same client reads the counts of adaptive indexes, because the function may query the table of counts. */
const stores: Stores = {
  indexes: Object.fromEntries(
    Object.entries(JSON.parse(indexes) as Record<string, ShardedIndexConfig>).map(([name, config]) => [
      name,
      config.adaptive === undefined
        ? config
        : new AdaptiveIndex(config, new DynamoDbShardCountReader(dynamoDb, config)),
    ]),
  ),
  tables: JSON.parse(tables),
  values: boundValues<AllowedValues>(values, checkAllowedValues),
};

/** The measurements of all invocations in this execution environment. */
const history = new FanOutHistory();

const metrics = functionMetrics();

const cache =
  cacheMs === undefined
    ? undefined
    : pageCache<QueryResponse>(Number(cacheMs), Number(requiredEnvironment('AWS_LAMBDA_FUNCTION_MEMORY_SIZE')));

interface QueryResponse {
  /** Absent if `select` is `count`. */
  items?: Record<string, unknown>[];
  /**
   * Pass this cursor with the same query to read the next page, which may be empty, or to count the remaining items.
   * Absent if there are no more items.
   */
  cursor?: string;
  /** The number of items in the page, or the number of counted items. */
  count: number;
  /** The shards that are missing from a partial page. To get their items, read this page again. */
  missingShards?: number[];
  stats: FanOutStats;
}

type InvocationContext = Pick<Context, 'getRemainingTimeInMillis'>;

export const handler = loggable(handle);

async function handle(event: QueryEvent, context: InvocationContext): Promise<QueryResponse> {
  const parsed = parseQueryEvent(stores, event);
  const { onShardFailure, fresh, request } = parsed;
  const options: FanOutReadOptions = {
    concurrency: MAX_SOCKETS,
    deadlineMs: Math.max(0, context.getRemainingTimeInMillis() - RESERVED_MS.query),
    onShardFailure,
    hedgeBudget: HEDGE_BUDGET,
    history,
  };
  const query = () => (parsed.select === 'count' ? count(parsed, options) : page(parsed, options));
  if (cache === undefined || request.consistentRead) return query();
  const cacheKey = JSON.stringify({ ...event, fresh: undefined });
  if (fresh) return cache.refresh(cacheKey, query);
  const cached = cache.cached(cacheKey);
  if (cached === undefined) return cache.fetch(cacheKey, query);
  publishCounts(metrics, cacheHitMetrics(cached.items?.length));
  return { ...cached, stats: noCost(cached.stats.shards) };
}

async function page({ config, request, format }: ParsedEvent, options: FanOutReadOptions): Promise<QueryResponse> {
  const toJson = format === 'plain' ? jsonItem : itemToJson;
  const bounds: PageBytes<DynamoDbItem> = {
    maxPageBytes: MAX_PAGE_BYTES,
    bytesOf: (item) => Buffer.byteLength(JSON.stringify(toJson(item))) + 1,
  };
  const { items, ...rest } = await fanOutQuery(dynamoDb, config, request, { ...options, ...bounds });
  publishCounts(metrics, queryMetrics({ items, ...rest }));
  return { items: items.map(toJson), count: items.length, ...rest };
}

async function count({ config, request }: ParsedEvent, options: FanOutReadOptions): Promise<QueryResponse> {
  const counted = await fanOutCount(dynamoDb, config, request, options);
  publishCounts(metrics, countMetrics(counted));
  return counted;
}
