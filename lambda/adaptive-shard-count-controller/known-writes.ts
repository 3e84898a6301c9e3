import type { PutItemCommandInput, QueryCommandInput, QueryCommandOutput } from '@aws-sdk/client-dynamodb';
import type { ValueMinutes } from '../../lib/core/adaptive-counts/insight-minutes';
import { COUNT_TABLE_INDEX, COUNT_TABLE_VALUE, reportsKey } from '../../lib/core/adaptive-counts/shard-count-table';
import { ALARM_KEY, minuteText, reportOf, type WriteReport } from '../../lib/core/adaptive-counts/write-report-table';
import type { DynamoDbItem } from '../../lib/core/aws-client/attribute-value';
import { IncompleteAnswerError } from '../../lib/core/kernel/incomplete-answer-error';
import { pages } from '../../lib/core/kernel/pages';
import type { ShardedIndexConfig } from '../../lib/core/sharded-index/config/sharded-index-config';

/** How far back reports are read: a count is increased because of two minutes, or of ten. */
const LOOK_BACK_MS = 20 * 60_000;

const ALARM_STATE = 'state';
const ALARM_TIME = 'changedAt';
const RAISED = 'ALARM';

/** What the table of counts holds besides the counts. */
interface KnownWrites {
  /** What writers have reported. */
  readonly reported: ValueMinutes[];
  /** Whether the alarm of the index is in the state ALARM, as far as its events tell. */
  readonly isAlarmed: boolean;
}

/**
 * Reads the reports and the alarm with one query, which usually costs half a read unit. If it misses a report, the next one
 * finds it a minute later.
 */
export async function readKnownWrites(
  client: { query(input: QueryCommandInput): Promise<QueryCommandOutput> },
  config: ShardedIndexConfig,
  now: number,
): Promise<KnownWrites> {
  const values = new Map<string | undefined, WriteReport[]>();
  let isAlarmed = false;
  const read = async (start: QueryCommandInput['ExclusiveStartKey']): Promise<QueryCommandOutput> =>
    Object(
      await client.query({
        TableName: config.adaptive!.tableName,
        KeyConditionExpression: '#index = :index AND #value >= :from',
        ExpressionAttributeNames: { '#index': COUNT_TABLE_INDEX, '#value': COUNT_TABLE_VALUE },
        ExpressionAttributeValues: {
          ':index': { S: reportsKey(config) },
          ':from': { S: minuteText(now - LOOK_BACK_MS) },
        },
        ...(start && { ExclusiveStartKey: start }),
      }),
    );
  for await (const { Items } of pages('Query', read, ({ LastEvaluatedKey }) => LastEvaluatedKey)) {
    // An answer without items would look like minutes without throttled writes.
    if (!Array.isArray(Items)) throw new IncompleteAnswerError('Query', 'Items');
    for (const item of Items) {
      const attributes: Record<string, { S?: unknown }> = Object(item);
      const { S: key } = Object(attributes[COUNT_TABLE_VALUE]);
      if (typeof key !== 'string') continue;
      if (key === ALARM_KEY) isAlarmed = Object(attributes[ALARM_STATE]).S === RAISED;
      const report = reportOf(key, attributes as DynamoDbItem);
      // The present minute is not complete yet.
      if (report === undefined || report.start + 60_000 > now) continue;
      values.set(report.value, [...(values.get(report.value) ?? []), report]);
    }
  }
  return { reported: [...values].map(([value, minutes]) => ({ value, minutes })), isAlarmed };
}

/** Stores the state of the alarm. Events of an alarm may come late and twice, so the event of the latest change counts. */
export async function noteAlarm(
  client: { putItem(input: PutItemCommandInput): Promise<object> },
  config: ShardedIndexConfig,
  { isRaised, at }: { isRaised: boolean; at: string },
): Promise<void> {
  try {
    await client.putItem({
      TableName: config.adaptive!.tableName,
      Item: {
        [COUNT_TABLE_INDEX]: { S: reportsKey(config) },
        [COUNT_TABLE_VALUE]: { S: ALARM_KEY },
        [ALARM_STATE]: { S: isRaised ? RAISED : 'OK' },
        [ALARM_TIME]: { S: at },
      },
      ConditionExpression: 'attribute_not_exists(#at) OR #at < :at',
      ExpressionAttributeNames: { '#at': ALARM_TIME },
      ExpressionAttributeValues: { ':at': { S: at } },
    });
  } catch (error) {
    if ((error as Error).name !== 'ConditionalCheckFailedException') throw error;
  }
}
