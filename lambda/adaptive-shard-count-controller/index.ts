import {
  DynamoDBClient,
  PutItemCommand,
  type PutItemCommandInput,
  QueryCommand,
  type QueryCommandInput,
  type QueryCommandOutput,
} from '@aws-sdk/client-dynamodb';
import { adaptiveCountsOf, countedValue } from '../../lib/core/adaptive-counts/adaptive-config';
import { decideCounts, type ValueDecision, writersShards } from '../../lib/core/adaptive-counts/decide-counts';
import { DynamoDbShardCountStore } from '../../lib/core/adaptive-counts/dynamodb-shard-count-store';
import { increaseShardCount } from '../../lib/core/adaptive-counts/increase-shard-count';
import { INDEX } from '../../lib/core/contract/function-environment';
import {
  INDEX_NAME_DIMENSION,
  SHARD_COUNT_METRICS,
  TABLE_NAME_DIMENSION,
} from '../../lib/core/contract/function-metrics';
import type { ShardedIndexConfig } from '../../lib/core/sharded-index/config/sharded-index-config';
import { checkIndexShardCount } from '../../lib/core/sharding/shard-count';
import { metricsBy, publishCounts } from '../embedded-metrics';
import { inTime } from '../in-time';
import { loggable } from '../loggable';
import { requiredEnvironment } from '../required-environment';
import { boundedHandler, READ_ATTEMPTS } from '../reshard-client';
import { parseControllerEvent } from './controller-event';
import { readReportedWrites } from './reported-writes';

interface ControllerResponse {
  readonly index: string;
  /** The values with reported writes, each with its shard count and the decision of the function. */
  readonly values: {
    readonly value: string | null;
    readonly shards: number;
    readonly decision: string;
    readonly to: number;
    readonly reason: string;
  }[];
}

/** The part of DynamoDB that the function uses. */
interface ControllerTables {
  query(input: QueryCommandInput): Promise<QueryCommandOutput>;
  putItem(input: PutItemCommandInput): Promise<object>;
}

const config = JSON.parse(requiredEnvironment(INDEX)) as ShardedIndexConfig;
const changedBy = requiredEnvironment('AWS_LAMBDA_FUNCTION_NAME').slice(0, 100);

const clientOptions = { maxAttempts: READ_ATTEMPTS, requestHandler: boundedHandler() };
const client = new DynamoDBClient(clientOptions);
const dynamoDb: ControllerTables = {
  query: (input) => inTime((options) => client.send(new QueryCommand(input), options)),
  putItem: (input) => inTime((options) => client.send(new PutItemCommand(input), options)),
};
const store = new DynamoDbShardCountStore(dynamoDb, config);
const metrics = metricsBy({ [TABLE_NAME_DIMENSION]: config.tableName, [INDEX_NAME_DIMENSION]: config.indexName });

export const handler = loggable(handle);

/**
 * Increases the counts of throttled values. The function runs every minute, and when a person invokes it. It keeps its state only in
 * the table of counts.
 */
async function handle(event: unknown): Promise<ControllerResponse> {
  const request = parseControllerEvent(config.indexName, event);
  if (request.kind === 'increase') return increaseTo(request.value, request.count);
  const decisions = await decide();
  if (request.kind === 'dry run' || decisions.length === 0) return responseTo(decisions);
  for (const decision of decisions) log(decision);
  const increased = await Promise.allSettled(decisions.filter(({ decision }) => decision === 'increase').map(increase));
  publishCounts(metrics, {
    [SHARD_COUNT_METRICS.throttledValues]: decisions.filter(({ decision }) => decision !== 'calm').length,
    [SHARD_COUNT_METRICS.valuesAtMaximum]: decisions.filter(({ decision }) => decision === 'at maximum').length,
    [SHARD_COUNT_METRICS.increases]: increased.filter(({ status }) => status === 'fulfilled').length,
    [SHARD_COUNT_METRICS.mostShards]: Math.max(...decisions.map(({ shards }) => shards)),
  });
  for (const outcome of increased) if (outcome.status === 'rejected') throw outcome.reason;
  return responseTo(decisions);
}

/** Decides for each value with reported writes whether its count must increase. */
async function decide(): Promise<ValueDecision[]> {
  const now = Date.now();
  const reported = await readReportedWrites(dynamoDb, config, now);
  return reported.length === 0 ? [] : decideCounts(config, await store.readCounts(), reported, now);
}

async function increase({ value, shards, reason }: ValueDecision): Promise<void> {
  const to = { to: shards, reason: reason.slice(0, 500), changedBy };
  await increaseShardCount(config, store, value === undefined ? to : { ...to, value });
}

/** Increases the count of a value. Keeps a count that is large enough already, and reports why. */
async function increaseTo(value: string | number | undefined, count: number): Promise<ControllerResponse> {
  checkIndexShardCount('count', count, adaptiveCountsOf(config).maximum);
  const name = countedValue(config, value);
  const from = writersShards(config, await store.readCount(name), name);
  const reason = 'a person invoked the controller with this count';
  const to = { to: count, reason, changedBy };
  const stored = await increaseShardCount(config, store, value === undefined ? to : { ...to, value });
  const shards = writersShards(config, stored, name);
  const outcome =
    shards > from
      ? { decision: 'increase', reason }
      : {
          decision: 'keep',
          reason: `the value already has ${from} shards, and an invocation does not decrease a count`,
        };
  console.info({ indexName: config.indexName, shards, ...outcome });
  return { index: config.indexName, values: [{ value: name ?? null, shards: from, to: shards, ...outcome }] };
}

/**
 * Logs a decision without the value of the item, because values are data of the application. The response to a dry run
 * and the table of counts contain the values.
 */
function log({ decision, from, shards, needed, reason }: ValueDecision): void {
  if (decision !== 'calm') console.info({ indexName: config.indexName, decision, from, shards, needed, reason });
}

function responseTo(decisions: readonly ValueDecision[]): ControllerResponse {
  return {
    index: config.indexName,
    values: decisions.map(({ value = null, from, decision, shards, reason }) => ({
      value,
      shards: from,
      decision,
      to: shards,
      reason,
    })),
  };
}
