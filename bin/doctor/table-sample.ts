import type { DynamoDB } from '@aws-sdk/client-dynamodb';
import type { AttributeValue, DynamoDbItem } from '../../lib/core/aws-client/attribute-value';
import { attributeOf } from '../../lib/core/aws-client/attribute-value';
import { IncompleteAnswerError } from '../../lib/core/kernel/incomplete-answer-error';
import { SERVICE_LIMITS } from '../../lib/core/planning/service-limits';
import { itemBytes } from '../../lib/core/sharded-index/query/item-bytes';

/** Items from all parts of a table. */
export interface TableSample {
  readonly segments: readonly SampledSegment[];
  /** Whether the sample has all items of the table. */
  readonly isWhole: boolean;
  readonly readUnits: number;
}

/** Items of a segment of a scan. Items of one segment are neighbours, and often have the same partition key. */
interface SampledSegment {
  readonly items: readonly DynamoDbItem[];
  /** Whether the segment can have many more items of the only partition key that was read, so that its size is not known. */
  readonly isOfOneKey: boolean;
}

/** The table of a sample. */
interface SampledTable {
  readonly tableName: string;
  readonly partitionKey: string;
  readonly hasSortKey: boolean;
}

/** More segments make a sample more reliable, and take more requests. */
const MAX_SEGMENTS = 200;

/** The first request is small, because the size of the items is not known yet. */
const FIRST_LIMIT = 10;

/** An eventually consistent read unit reads 8 KB, and a response costs at least half a unit. Source: the DynamoDB developer guide, "Read consistency". */
const UNIT_BYTES = 8 * 1_024;
const MIN_UNITS_OF_RESPONSE = 0.5;

const MAX_UNITS_OF_ITEM = (SERVICE_LIMITS.itemKilobytes.value * 1_024) / UNIT_BYTES;

/** A page has at most 1 MB, and the item that passes this limit. Source: the DynamoDB developer guide, "Paginating table query results". */
const MAX_UNITS_OF_PAGE = (1_024 * 1_024) / UNIT_BYTES + MAX_UNITS_OF_ITEM;

/** The smallest budget: one item can cost as much. */
export const MIN_SAMPLE_UNITS = MAX_UNITS_OF_ITEM;

/**
 * Reads a sample that is spread over the whole table: some items of each segment of a parallel scan. Never exceeds the budget of
 * `readUnits`, also if every item has the maximum size. So a part of the budget stays unused if the items are small.
 */
export async function sampleTable(
  dynamodb: Pick<DynamoDB, 'scan'>,
  { tableName, partitionKey, hasSortKey }: SampledTable,
  readUnits: number,
): Promise<TableSample> {
  const affordable = 1 + Math.floor((readUnits - MAX_UNITS_OF_ITEM) / MIN_UNITS_OF_RESPONSE);
  const TotalSegments = Math.max(1, Math.min(MAX_SEGMENTS, affordable));
  const segments: SampledSegment[] = [];
  let [used, bytes, items, isWhole] = [0, 0, 0, true];
  // Steps of a golden ratio: if the budget ends early, the segments that were read are still spread over the table.
  for (const Segment of spread(TotalSegments)) {
    const left = readUnits - used;
    if (left < MAX_UNITS_OF_ITEM) {
      isWhole = false;
      break;
    }
    const share = (left - MAX_UNITS_OF_PAGE) / (TotalSegments - segments.length);
    const expected = (Math.max(share, MIN_UNITS_OF_RESPONSE) * UNIT_BYTES) / (bytes / items || 1);
    const safe = left < MAX_UNITS_OF_PAGE ? left / MAX_UNITS_OF_ITEM : Number.POSITIVE_INFINITY;
    const most = Math.min(items === 0 ? FIRST_LIMIT : 1_000, expected, safe);
    const { Items, LastEvaluatedKey, ConsumedCapacity } = await dynamodb.scan({
      TableName: tableName,
      Segment,
      TotalSegments,
      Limit: Math.max(1, Math.floor(most)),
      ReturnConsumedCapacity: 'TOTAL',
    });
    if (!Array.isArray(Items)) throw new IncompleteAnswerError('Scan', 'Items');
    const read = Items as DynamoDbItem[];
    const size = read.reduce((sum, item) => sum + itemBytes(item), 0);
    const atLeast = Math.max(MIN_UNITS_OF_RESPONSE, Math.ceil(size / (UNIT_BYTES / 2)) / 2);
    used += ConsumedCapacity?.CapacityUnits ?? atLeast;
    bytes += size;
    items += read.length;
    const isEnd = LastEvaluatedKey === undefined;
    isWhole &&= isEnd;
    const keys = new Set(read.map(({ [partitionKey]: key }) => key && keyText(key)));
    segments.push({ items: read, isOfOneKey: hasSortKey && !isEnd && keys.size === 1 });
  }
  return { segments, isWhole, readUnits: used };
}

/** All items of a sample. */
export function sampledItems({ segments }: TableSample): DynamoDbItem[] {
  return segments.flatMap(({ items }) => items);
}

/** All numbers below `count`, so that each prefix of the list is spread evenly. */
function spread(count: number): number[] {
  const at = (n: number) => (n * 0.618_033_988_75) % 1;
  const order = Array.from({ length: count }, (_, n) => n).sort((a, b) => at(a) - at(b));
  const ranks: number[] = [];
  for (const [rank, n] of order.entries()) ranks[n] = rank;
  return ranks;
}

/** A part of the items of a table, estimated from a sample. */
interface EstimatedShare {
  readonly share: number;
  /** With a probability of about 95 %, the share of the table is between `share - error` and `share + error`. 0 for a whole table. */
  readonly error: number;
}

/**
 * Estimates the part of the items for which `holds` is true. The error is that of a cluster sample: the segments are
 * independent, but the items of a segment are not. Source: Cochran, "Sampling Techniques", ratio estimates of clusters.
 * The estimate assumes segments of similar size. One partition key with many items can make a segment much larger, so the
 * error is then 1.
 */
export function estimatedShare(
  { segments, isWhole }: TableSample,
  holds: (item: DynamoDbItem) => boolean,
): EstimatedShare {
  const clusters = segments.filter(({ items }) => items.length > 0);
  const counts = clusters.map(({ items }) => ({ items: items.length, found: items.filter(holds).length }));
  const items = counts.reduce((sum, each) => sum + each.items, 0);
  if (items === 0) return { share: 0, error: 1 };
  const share = counts.reduce((sum, each) => sum + each.found, 0) / items;
  if (isWhole) return { share, error: 0 };
  const many = clusters.length;
  // Without any difference between the segments, the error is that of a share that was never seen: three in the number of segments.
  const least = Math.min(1, 3 / many);
  if (many < 2 || clusters.some(({ isOfOneKey }) => isOfOneKey)) return { share, error: 1 };
  const squares = counts.reduce((sum, each) => sum + (each.found - share * each.items) ** 2, 0);
  return { share, error: Math.min(1, Math.max(least, (1.96 * Math.sqrt((many / (many - 1)) * squares)) / items)) };
}

/** The values of an attribute in a sample, most frequent first, with their shares of the items that have the attribute. */
export function sampledValues(
  sample: TableSample,
  attribute: string,
): { readonly value: string; readonly share: number }[] {
  const counts = new Map<string, number>();
  let total = 0;
  for (const item of sampledItems(sample)) {
    const value = attributeOf(item, attribute);
    if (value === undefined) continue;
    total += 1;
    const text = keyText(value);
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return [...counts]
    .map(([value, count]) => ({ value, share: count / total }))
    .sort((one, other) => other.share - one.share);
}

/** A key attribute as Contributor Insights print it. */
export function keyText(value: AttributeValue): string {
  if ('S' in value) return value.S;
  if ('N' in value) return value.N;
  return 'B' in value ? Buffer.from(value.B).toString('base64') : JSON.stringify(value);
}
