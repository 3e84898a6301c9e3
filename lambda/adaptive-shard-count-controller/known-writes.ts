import type { PutItemCommandInput, QueryCommandInput, QueryCommandOutput } from '@aws-sdk/client-dynamodb';
import type { ValueMinutes } from '../../lib/core/adaptive-counts/insight-minutes';
import { COUNT_TABLE_INDEX, COUNT_TABLE_VALUE, reportsKey } from '../../lib/core/adaptive-counts/shard-count-table';
import { ALARM_KEY, minuteText, reportOf, type WriteReport } from '../../lib/core/adaptive-counts/write-report-table';
import type { DynamoDbItem } from '../../lib/core/aws-client/attribute-value';
import { IncompleteAnswerError } from '../../lib/core/kernel/incomplete-answer-error';
import { pages } from '../../lib/core/kernel/pages';
import type { ShardedIndexConfig } from '../../lib/core/sharded-index/config/sharded-index-config';

/** How far back the function reads reports. An increase depends on the reports of two minutes or of ten minutes. */
const LOOK_BACK_MS = 20 * 60_000;

const ALARM_STATE = 'state';
const ALARM_TIME = 'changedAt';
const IN_ALARM = 'ALARM';

/** The reports and the alarm state in the table of counts. */
interface KnownWrites {
  /** The throttled writes that writers reported. */
  readonly reported: ValueMinutes[];
  /** Whether the alarm of the index is in the state ALARM, according to its latest event. */
  readonly isAlarmed: boolean;
}

/**
 * Reads the reports and the alarm state with one query, which usually costs half a read unit. If a query misses a
 * report, the query of the next minute finds it.
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
    // Without this check, a response without the field `Items` would look like minutes without throttled writes.
    if (!Array.isArray(Items)) throw new IncompleteAnswerError('Query', 'Items');
    for (const item of Items) {
      const attributes: Record<string, { S?: unknown }> = Object(item);
      const { S: key } = Object(attributes[COUNT_TABLE_VALUE]);
      if (typeof key !== 'string') continue;
      if (key === ALARM_KEY) isAlarmed = Object(attributes[ALARM_STATE]).S === IN_ALARM;
      const report = reportOf(key, attributes as DynamoDbItem);
      // The report of the present minute is not complete.
      if (report === undefined || report.start + 60_000 > now) continue;
      values.set(report.value, [...(values.get(report.value) ?? []), report]);
    }
  }
  return { reported: [...values].map(([value, minutes]) => ({ value, minutes })), isAlarmed };
}

/**
 * Stores the state of the alarm. Events of an alarm can arrive late or twice, so only the event with the latest change
 * is stored.
 */
export async function storeAlarmState(
  client: { putItem(input: PutItemCommandInput): Promise<object> },
  config: ShardedIndexConfig,
  { isInAlarm, at }: { isInAlarm: boolean; at: string },
): Promise<void> {
  try {
    await client.putItem({
      TableName: config.adaptive!.tableName,
      Item: {
        [COUNT_TABLE_INDEX]: { S: reportsKey(config) },
        [COUNT_TABLE_VALUE]: { S: ALARM_KEY },
        [ALARM_STATE]: { S: isInAlarm ? IN_ALARM : 'OK' },
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
