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

/** The time that an invocation reserves to wait for requests in flight, and to answer. */
const LAST_ANSWER_MS = 15_000;

/** If DynamoDB does not answer for this long, a request is sent again. */
const SILENCE_MS = 5_000;

const config = JSON.parse(process.env[TABLE] ?? requiredEnvironment(INDEX)) as ShardedConfig;
const versionAttribute = process.env[VERSION_ATTRIBUTE] ?? null;
const readUnitsPerSecond = Number(requiredEnvironment(READ_UNITS_PER_SECOND));
const writeUnitsPerSecond = Number(requiredEnvironment(WRITE_UNITS_PER_SECOND));
const segmentsAtOnce = Number(requiredEnvironment(SEGMENTS_AT_ONCE));

/** The SDK makes no retries, because the scan makes its own within its budget. */
const dynamoDb = new DynamoDB({
  maxAttempts: 1,
  requestHandler: new NodeHttpHandler({
    requestTimeout: SILENCE_MS,
    throwOnRequestTimeout: true,
    socketTimeout: SILENCE_MS,
  }),
});

/** How items are judged, and how they are moved. */
const { judge, move } = isTableConfig(config) ? ofTable(config) : ofIndex(config);

const metrics = metricsBy({
  [TABLE_NAME_DIMENSION]: config.tableName,
  ...(config.indexName !== undefined && { [INDEX_NAME_DIMENSION]: config.indexName }),
});

export const handler = loggable(handle);

/** Works on a segment until it is complete or the time is up. */
async function handle(event: SegmentEvent, context: Pick<Context, 'getRemainingTimeInMillis'>): Promise<SegmentEvent> {
  checkSegment(event);
  const report = await workOn(
    event,
    AbortSignal.timeout(Math.max(1, context.getRemainingTimeInMillis() - LAST_ANSWER_MS)),
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

/** A failure after some progress is not an error: the next invocation goes on from there, and fails if it makes no progress. */
async function workOn(event: SegmentEvent, signal: AbortSignal): Promise<StrayReport | ReshardItemsReport> {
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
    // Whatever an audit overlooks, the next audit finds. So it reads at half the price.
    if (modeOf(event) === 'audit') return await findStrays(dynamoDb, judge, { ...options, consistentRead: false });
    return await move({ ...options, writeUnitsPerSecond: writeUnitsPerSecond / share });
  } catch (error) {
    // The counts have changed since the last invocation, so every item must be judged anew.
    if (judge !== config && error instanceof InvalidCursorError) {
      return workOn({ ...event, resumePoint: undefined }, signal);
    }
    if (!(error instanceof StrayScanError) || error.report.itemsScanned === 0) throw error;
    console.error(error.toJSON());
    return error.report;
  }
}

function ofTable(table: ShardedTableConfig) {
  const moveOfTable = (options: ReshardItemsOptions) => reshardItems(dynamoDb, table, { ...options, versionAttribute });
  return { judge: table, move: moveOfTable };
}

/** If the counts of the index grow, the counts of the moment apply. */
function ofIndex(fixed: ShardedIndexConfig) {
  const index =
    fixed.adaptive === undefined ? fixed : new AdaptiveIndex(fixed, new DynamoDbShardCountReader(dynamoDb, fixed));
  return { judge: index, move: (options: ReshardItemsOptions) => reshardItems(dynamoDb, index, options) };
}
