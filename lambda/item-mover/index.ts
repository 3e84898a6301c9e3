import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import type { Context } from 'aws-lambda';
import { AdaptiveIndex } from '../../lib/core/adaptive-counts/adaptive-index';
import { DynamoDbShardCountReader } from '../../lib/core/adaptive-counts/dynamodb-shard-count-store';
import {
  INDEX,
  READ_UNITS_PER_SECOND,
  SEGMENTS_AT_ONCE,
  TABLE,
  VERSION_ATTRIBUTE,
  WRITE_UNITS_PER_SECOND,
} from '../../lib/core/contract/function-environment';
import {
  INDEX_NAME_DIMENSION,
  RESHARDING_METRICS,
  TABLE_NAME_DIMENSION,
} from '../../lib/core/contract/function-metrics';
import { RESERVED_MS } from '../../lib/core/contract/reserved-time';
import { InvalidCursorError } from '../../lib/core/fan-out/fan-out-errors';
import {
  isTableConfig,
  type ShardedConfig,
  type ShardedIndexConfig,
  type ShardedTableConfig,
} from '../../lib/core/sharded-index/config/sharded-index-config';
import { findStrays } from '../../lib/core/sharded-index/strays/find-strays';
import { type ReshardItemsOptions, reshardItems } from '../../lib/core/sharded-index/strays/reshard-items';
import {
  type ReshardItemsReport,
  type StrayReport,
  StrayScanError,
} from '../../lib/core/sharded-index/strays/stray-report';
import { metricsBy, publishCounts } from '../embedded-metrics';
import { loggable } from '../loggable';
import { requiredEnvironment } from '../required-environment';
import { checkSegment, modeOf, type SegmentEvent, totalsWith } from './segment-event';

/** The function sends a request again if DynamoDB does not respond for this time. */
const SILENCE_MS = 5_000;

const config = JSON.parse(process.env[TABLE] ?? requiredEnvironment(INDEX)) as ShardedConfig;
const versionAttribute = process.env[VERSION_ATTRIBUTE] ?? null;
const readUnitsPerSecond = Number(requiredEnvironment(READ_UNITS_PER_SECOND));
const writeUnitsPerSecond = Number(requiredEnvironment(WRITE_UNITS_PER_SECOND));
const segmentsAtOnce = Number(requiredEnvironment(SEGMENTS_AT_ONCE));

/** The SDK makes no retries, because the scan makes its own retries within its budget. */
const dynamoDb = new DynamoDB({
  maxAttempts: 1,
  requestHandler: new NodeHttpHandler({
    requestTimeout: SILENCE_MS,
    throwOnRequestTimeout: true,
    socketTimeout: SILENCE_MS,
  }),
});

/** `judge` is the configuration that decides which items are strays. `move` moves each stray to its place. */
const { judge, move } = isTableConfig(config) ? ofTable(config) : ofIndex(config);

const metrics = metricsBy({
  [TABLE_NAME_DIMENSION]: config.tableName,
  ...(config.indexName !== undefined && { [INDEX_NAME_DIMENSION]: config.indexName }),
});

export const handler = loggable(handle);

/** Works on a segment until the segment is complete, or until the invocation has nearly reached its timeout. */
async function handle(event: SegmentEvent, context: Pick<Context, 'getRemainingTimeInMillis'>): Promise<SegmentEvent> {
  checkSegment(event);
  const report = await processSegment(
    event,
    AbortSignal.timeout(Math.max(1, context.getRemainingTimeInMillis() - RESERVED_MS.itemMover)),
  );
  const { resumePoint, totals: earlier, ...rest } = event;
  const totals = totalsWith(earlier, report);
  publishCounts(metrics, {
    [RESHARDING_METRICS.itemsScanned]: report.itemsScanned,
    [RESHARDING_METRICS.strays]: Object.values(report.strays).reduce((sum, count) => sum + count, 0),
    [RESHARDING_METRICS.hiddenStrays]: report.hidden,
    [RESHARDING_METRICS.movedItems]: 'outcomes' in report ? report.outcomes.moved : 0,
    [RESHARDING_METRICS.rejectedItems]: 'outcomes' in report ? report.outcomes.refused : 0,
  });
  return { ...rest, totals, ...(report.resumePoint !== undefined && { resumePoint: report.resumePoint }) };
}

/**
 * Audits or moves the items of a segment. If the work fails after some progress, returns the progress, so that the next
 * invocation continues from it. If the work fails without progress, throws the error.
 */
async function processSegment(event: SegmentEvent, signal: AbortSignal): Promise<StrayReport | ReshardItemsReport> {
  const { segment, totalSegments, resumePoint } = event;
  const share = Math.min(segmentsAtOnce, totalSegments);
  const options = {
    segment,
    totalSegments,
    readUnitsPerSecond: readUnitsPerSecond / share,
    signal,
    ...(resumePoint !== undefined && { resumeFrom: resumePoint }),
  };
  try {
    // An audit uses eventually consistent reads, at half the price. The next audit finds a stray that this audit
    // misses.
    if (modeOf(event) === 'audit') return await findStrays(dynamoDb, judge, { ...options, consistentRead: false });
    return await move({ ...options, writeUnitsPerSecond: writeUnitsPerSecond / share });
  } catch (error) {
    // The counts have changed since the last invocation, so scan the segment again from its start.
    if (judge !== config && error instanceof InvalidCursorError) {
      return processSegment({ ...event, resumePoint: undefined }, signal);
    }
    if (!(error instanceof StrayScanError) || error.report.itemsScanned === 0) throw error;
    console.error(error.toJSON());
    return error.report;
  }
}

function ofTable(table: ShardedTableConfig) {
  const moveItems = (options: ReshardItemsOptions) => reshardItems(dynamoDb, table, { ...options, versionAttribute });
  return { judge: table, move: moveItems };
}

/**
 * The configuration and the mover of an index. If the shard counts are adaptive, the mover reads the counts when it
 * needs them.
 */
function ofIndex(fixed: ShardedIndexConfig) {
  const index =
    fixed.adaptive === undefined ? fixed : new AdaptiveIndex(fixed, new DynamoDbShardCountReader(dynamoDb, fixed));
  return { judge: index, move: (options: ReshardItemsOptions) => reshardItems(dynamoDb, index, options) };
}
