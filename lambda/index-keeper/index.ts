import { MetricUnit } from '@aws-lambda-powertools/metrics';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { AdaptiveIndex } from '../../lib/core/adaptive-counts/adaptive-index';
import { DynamoDbShardCountReader } from '../../lib/core/adaptive-counts/dynamodb-shard-count-store';
import { WriteReporter } from '../../lib/core/adaptive-counts/write-reporter';
import {
  CORRECTS_ITEMS,
  INDEXES,
  KEEPER_TABLE_NAME,
  READ_UNITS_PER_SECOND,
} from '../../lib/core/contract/function-environment';
import { KEEPER_METRICS } from '../../lib/core/contract/function-metrics';
import { RESERVED_MS } from '../../lib/core/contract/reserved-time';
import type { ShardedIndexConfig } from '../../lib/core/sharded-index/config/sharded-index-config';
import { DynamoDbKeeperStore } from '../../lib/core/sharded-index/keeper/dynamodb-keeper-store';
import { type CheckCounts, IndexKeeper } from '../../lib/core/sharded-index/keeper/index-keeper';
import type { FirstAttempt } from '../../lib/core/sharded-index/keeper/item-corrector';
import type { Sweep } from '../../lib/core/sharded-index/keeper/keeper-store';
import { plainItem } from '../../lib/core/sharded-index/query/plain-item';
import { functionMetrics } from '../embedded-metrics';
import { type TimedInvocation, timeLeft } from '../in-time';
import { loggable, loggableMessage } from '../loggable';
import { requiredEnvironment } from '../required-environment';
import { parseKeeperEvent } from './keeper-event';

/** The response to an event of the table's stream, as Lambda expects it. */
interface BatchResponse {
  readonly batchItemFailures: readonly { readonly itemIdentifier: string }[];
}

/** The items that the keeper names, and the sweep that is due or in progress, for a person. */
interface NamedItemsResponse {
  readonly sweep?: {
    readonly reason: string;
    readonly since: string;
    readonly isStarted: boolean;
    readonly checked: number;
    readonly corrected: number;
  };
  readonly items: readonly { readonly key: object; readonly reason: string; readonly since: string }[];
  readonly cursor?: string;
}

const REQUEST_MS = 3_000;

/**
 * An invocation of the schedule works on for at most this time, in milliseconds. The next invocation begins after a minute. Half
 * of the time is for items that are set aside, so that they do not stop a sweep.
 */
const SCHEDULED_MS = 50_000;

/** The SDK makes no retries, because the keeper makes its own. */
const dynamoDb = new DynamoDB({
  maxAttempts: 1,
  requestHandler: new NodeHttpHandler({ requestTimeout: REQUEST_MS, throwOnRequestTimeout: true }),
});

const configs = Object.values(JSON.parse(requiredEnvironment(INDEXES)) as Record<string, ShardedIndexConfig>);

const reporters = new Map(
  configs.filter(({ adaptive }) => adaptive).map((config) => [config.indexName, new WriteReporter(dynamoDb, config)]),
);

const keeper = new IndexKeeper(
  dynamoDb,
  configs.map((config) =>
    config.adaptive === undefined ? config : new AdaptiveIndex(config, new DynamoDbShardCountReader(dynamoDb, config)),
  ),
  new DynamoDbKeeperStore(dynamoDb, requiredEnvironment(KEEPER_TABLE_NAME)),
  {
    correct: requiredEnvironment(CORRECTS_ITEMS) === 'true',
    sweepReadUnitsPerSecond: Number(requiredEnvironment(READ_UNITS_PER_SECOND)),
    firstAttempt: reported,
  },
);

const metrics = functionMetrics();

export const handler = loggable(handle);

/** Keeps the items of the table in the shards of its indexes. */
async function handle(
  event: unknown,
  context: TimedInvocation,
): Promise<BatchResponse | NamedItemsResponse | { sweep: string } | undefined> {
  const request = parseKeeperEvent(event);
  if (request.kind === 'changes') return keepChanges(event, context);
  if (request.kind === 'list') return listItems(request.cursor);
  if (request.kind === 'sweep') {
    await keeper.startSweep();
    return { sweep: 'started: the schedule continues it every minute' };
  }
  await continueWork(timeLeft(context, RESERVED_MS.keeper));
  return undefined;
}

async function keepChanges(event: unknown, context: TimedInvocation): Promise<BatchResponse> {
  const kept = await keeper.keep(event, AbortSignal.timeout(timeLeft(context, RESERVED_MS.keeper)));
  logProblems(kept.problems);
  addCounts(kept.counts);
  metrics.addMetric(KEEPER_METRICS.delay, MetricUnit.Milliseconds, kept.delayMs);
  metrics.publishStoredMetrics();
  const { firstUnfinished } = kept;
  return { batchItemFailures: firstUnfinished === undefined ? [] : [{ itemIdentifier: firstUnfinished }] };
}

async function continueWork(leftMs: number): Promise<void> {
  const halfMs = Math.min(SCHEDULED_MS, leftMs) / 2;
  const { contested, rejected, problems } = await keeper.checkAgain(AbortSignal.timeout(halfMs));
  logProblems(problems);
  metrics.addMetric(KEEPER_METRICS.contestedItems, MetricUnit.Count, contested);
  metrics.addMetric(KEEPER_METRICS.rejectedItems, MetricUnit.Count, rejected);
  // A sweep that fails must not remove these values.
  metrics.publishStoredMetrics();
  const { isDue, counts, problems: ofSweep } = await keeper.continueSweep(AbortSignal.timeout(halfMs));
  logProblems(ofSweep);
  addCounts(counts);
  metrics.addMetric(KEEPER_METRICS.sweepDue, MetricUnit.Count, isDue ? 1 : 0);
  metrics.publishStoredMetrics();
}

function logProblems(problems: readonly unknown[]): void {
  for (const problem of problems) console.error({ problem: loggableMessage(problem as Error) });
}

function addCounts({ corrected, wrong, notKept }: CheckCounts): void {
  metrics.addMetric(KEEPER_METRICS.correctedItems, MetricUnit.Count, corrected);
  metrics.addMetric(KEEPER_METRICS.wrongItems, MetricUnit.Count, wrong);
  metrics.addMetric(KEEPER_METRICS.notKeptItems, MetricUnit.Count, notKept);
}

async function listItems(cursor: string | undefined): Promise<NamedItemsResponse> {
  const [page, sweep] = await Promise.all([keeper.named(cursor), keeper.sweep()]);
  const items = page.items.map(({ key, reason, sinceMs }) => ({
    key: JSON.parse(JSON.stringify(plainItem(key), base64)) as object,
    reason,
    since: new Date(sinceMs).toISOString(),
  }));
  return {
    ...(sweep && { sweep: sweepResponse(sweep) }),
    items,
    ...(page.cursor !== undefined && { cursor: page.cursor }),
  };
}

function sweepResponse({ reason, dueSinceMs, isStarted, checked, corrected }: Sweep): NamedItemsResponse['sweep'] {
  return { reason, since: new Date(dueSinceMs).toISOString(), isStarted, checked, corrected };
}

/** A binary key as a text in base64. */
function base64(_: string, value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;
}

/**
 * Sends the first attempt of a correction through the reporter of each index with adaptive counts. So the controller gets the
 * throttled values.
 */
function reported(...[strays, send]: Parameters<FirstAttempt>): Promise<object> {
  return strays.reduce<() => Promise<object>>((next, { config, stray }) => {
    const reporter = stray.expected && reporters.get(config.indexName);
    if (reporter === undefined) return next;
    const value = stray.value && (plainItem({ value: stray.value }).value as string | number);
    return () => reporter.watch(value, next);
  }, send)();
}
