import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { fanOutQuery } from '../../lib/core/fan-out/fan-out-query';
import type { FanOutStats } from '../../lib/core/fan-out/fan-out-stats';
import { INDEXES } from '../../lib/core/function-environment';
import { itemToJson } from '../../lib/core/light-client/attribute-json';
import { lightQueryClient } from '../../lib/core/light-client/light-query-client';
import type { ShardedIndexConfig } from '../../lib/core/write-sharding/sharded-index-config';
import { requiredEnvironment } from '../required-environment';
import { plainItem } from './plain-json';
import { parseQueryEvent, type QueryEvent } from './query-event';

export interface QueryResponse {
  items: Record<string, unknown>[];
  /** Give it to the same query for the next page. Absent when nothing can follow; that page may turn out empty. */
  cursor?: string;
  /** How many items the page holds. */
  count: number;
  stats: FanOutStats;
}

/**
 * Bytes of items a response may hold: Lambda's limit of 6 MB, less room for the cursor and the rest.
 * Source: the AWS Lambda quotas, invocation payload.
 */
const MAX_PAGE_BYTES = 6_000_000;

/** The SDK's default of 50 sockets would queue the other shards of a wide fan-out. */
const AGENT = { maxSockets: 256 };

/** A shard that stays silent for so long is asked again, on another connection. */
const SILENCE_MS = 5_000;

const indexes = JSON.parse(requiredEnvironment(INDEXES)) as Record<string, ShardedIndexConfig>;
const dynamoDb = lightQueryClient(
  new DynamoDB({
    requestHandler: new NodeHttpHandler({
      httpAgent: AGENT,
      httpsAgent: AGENT,
      requestTimeout: SILENCE_MS,
      throwOnRequestTimeout: true,
      socketTimeout: SILENCE_MS,
    }),
  }),
);

export async function handler(event: QueryEvent): Promise<QueryResponse> {
  const { config, request, format } = parseQueryEvent(indexes, event);
  const toJson = format === 'plain' ? plainItem : itemToJson;
  const { items, cursor, stats } = await fanOutQuery(dynamoDb, config, request, {
    maxPageBytes: MAX_PAGE_BYTES,
    itemBytes: (item) => Buffer.byteLength(JSON.stringify(toJson(item))) + 1,
  });
  return { items: items.map(toJson), ...(cursor === undefined ? {} : { cursor }), count: items.length, stats };
}
