import { attributesOf, type DynamoDbItem } from '../../aws-client/attribute-value';
import { projectionOf } from '../../aws-client/expression';
import { IncompleteAnswerError } from '../../kernel/incomplete-answer-error';
import type { UnitBudget } from '../../kernel/unit-budget';
import type { TableScanClient } from '../strays/table-client';
import { keyTextOf } from './table-change';

/** The table of a sweep, and the attributes that determine whether an item is right. */
interface SweptTable {
  readonly tableName: string;
  readonly tableKey: readonly string[];
  readonly attributes: readonly string[];
}

/** A page of a sweep: its items, and the key from which the next page continues. */
export interface SweepPage {
  items: { key: DynamoDbItem; keyText: string; image: DynamoDbItem }[];
  next: DynamoDbItem | undefined;
}

/** The maximum number of items of a page. So a process that stops repeats little work, and the budget delays short steps. */
const MAX_PAGE_ITEMS = 500;

/**
 * The number of seconds whose read units pay for one page, if its items have at most 4 KB. A keeper sweeps for the first half of each
 * minute. The last page may begin at the end of this half, so a page must not cost more than the units of the other half.
 */
const PAGE_SECONDS = 30;

/** The number of items of a page for a budget. */
export function pageItems(unitsPerSecond: number): number {
  return Math.max(1, Math.min(MAX_PAGE_ITEMS, Math.floor(PAGE_SECONDS * unitsPerSecond)));
}

/** Reads the page of a table after a position, with at most `limit` items. The reads are strongly consistent. */
export async function sweepPage(
  client: TableScanClient,
  { tableName, tableKey, attributes }: SweptTable,
  position: DynamoDbItem | undefined,
  budget: UnitBudget,
  limit: number,
): Promise<SweepPage> {
  const { response } = await budget.spend(() =>
    client.scan({
      TableName: tableName,
      Segment: 0,
      TotalSegments: 1,
      ConsistentRead: true,
      ReturnConsumedCapacity: 'TOTAL',
      Limit: limit,
      ...projectionOf(attributes),
      ...(position && { ExclusiveStartKey: position }),
    }),
  );
  // Without this check, a response without `Items` would look like the end of the table.
  if (!Array.isArray(response?.Items)) throw new IncompleteAnswerError('Scan', 'Items');
  const items = (response.Items as DynamoDbItem[]).map((image) => {
    const key = attributesOf(image, tableKey);
    return { key, keyText: keyTextOf(key), image };
  });
  return { items, next: (response.LastEvaluatedKey ?? undefined) as DynamoDbItem | undefined };
}
