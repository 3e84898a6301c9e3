import type { QueryCommandInput, QueryCommandOutput } from '@aws-sdk/client-dynamodb';
import type { ValueMinutes } from '../../lib/core/adaptive-counts/decide-counts';
import { COUNT_TABLE_INDEX, COUNT_TABLE_VALUE, reportsKey } from '../../lib/core/adaptive-counts/shard-count-table';
import { minuteText, reportOf, type WriteReport } from '../../lib/core/adaptive-counts/write-report-table';
import type { DynamoDbItem } from '../../lib/core/aws-client/attribute-value';
import { IncompleteAnswerError } from '../../lib/core/kernel/incomplete-answer-error';
import { pages } from '../../lib/core/kernel/pages';
import type { ShardedIndexConfig } from '../../lib/core/sharded-index/config/sharded-index-config';

/** How far back the function reads reports. An increase depends on the reports of two minutes or of ten minutes. */
const LOOK_BACK_MS = 20 * 60_000;

/**
 * Reads the throttled writes that writers and index keepers have reported, with one query, which usually costs half a read unit. If a
 * query misses a report, the query of the next minute finds it.
 */
export async function readReportedWrites(
  client: { query(input: QueryCommandInput): Promise<QueryCommandOutput> },
  config: ShardedIndexConfig,
  now: number,
): Promise<ValueMinutes[]> {
  const values = new Map<string | undefined, WriteReport[]>();
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
      const report = reportOf(key, attributes as DynamoDbItem);
      // The report of the present minute is not complete.
      if (report === undefined || report.start + 60_000 > now) continue;
      values.set(report.value, [...(values.get(report.value) ?? []), report]);
    }
  }
  return [...values].map(([value, minutes]) => ({ value, minutes }));
}
