import type { DynamoDbItem } from '../foundation/attribute-value';
import type { ShardPage, ShardRead, ShardReader } from '../foundation/fan-out/shard-reader';
import type { Position, TotalOrder } from '../foundation/fan-out/total-order';
import { compareAttributeValues, type SortableValue } from './attribute-order';
import { type CursorPosition, positionAttributes } from './cursor';
import { type FanOutRequest, RESERVED_PLACEHOLDER, toAttributeValue } from './fan-out-request';
import { itemBytes } from './item-bytes';
import type { IndexQueryInput, QueryClient } from './query-client';
import { type ShardedIndexConfig, shardAttributeValue } from './sharded-index-config';
import { isInRange, rangeFrom, rangeUpTo, type SortKeyRange, sortKeyRange } from './sort-key-range';

/** What the readers of one query share. */
export interface IndexQuery {
  client: QueryClient;
  config: ShardedIndexConfig;
  request: FanOutRequest;
  order: TotalOrder<DynamoDbItem>;
  cursor: CursorPosition | undefined;
}

/** The part of a shard that a query has yet to read. */
interface Segment {
  range: SortKeyRange | undefined;
  exclusiveStartKey?: DynamoDbItem;
  /** Whether the range may cover more than the query: items before the cursor, or behind the end of the query. */
  widened?: boolean;
}

/** The sizes of so many items of an answer are enough to estimate the sizes of the others. */
const SIZED_ITEMS = 20;

/** The bytes of half a read unit, the least that DynamoDB charges for an eventually consistent read. */
const BLOCK_BYTES = 4_096;

/** Reads one shard of a DynamoDB index, page by page, from its start or from a cursor. */
export class IndexShardReader implements ShardReader<DynamoDbItem> {
  private readonly segment: Segment | undefined;

  constructor(
    private readonly query: IndexQuery,
    readonly shard: number,
  ) {
    this.segment = segmentOf(query, shard);
  }

  get exhausted(): boolean {
    return this.segment === undefined;
  }

  async read({ from, limit, until, signal }: ShardRead<DynamoDbItem>): Promise<ShardPage<DynamoDbItem>> {
    const { client, request } = this.query;
    const segment = this.segment!;
    const input = queryInput(this.query, this.shard, {
      range: until === undefined ? segment.range : endAt(until, segment, this.query),
      exclusiveStartKey: (from as DynamoDbItem | undefined) ?? segment.exclusiveStartKey,
    });
    if (limit !== undefined) input.Limit = limit;
    const output = await client.query(input, { abortSignal: signal });
    const { Items = [], ScannedCount = Items.length, LastEvaluatedKey, ConsumedCapacity } = output;
    const consumedReadUnits = ConsumedCapacity?.CapacityUnits ?? 0;
    const items = Items as DynamoDbItem[];
    const { wanted, ended } = this.narrowed(items);
    const readTo = ended ? undefined : (LastEvaluatedKey as DynamoDbItem | undefined);
    return {
      items: wanted,
      next: readTo,
      readTo,
      itemsRead: ScannedCount,
      consumedReadUnits,
      itemSizes:
        request.projection === undefined
          ? items.slice(0, SIZED_ITEMS).map(itemBytes)
          : sizesByUnits(consumedReadUnits, ScannedCount),
    };
  }

  /** Drops the items before the cursor, and ends the shard where the query ends. */
  private narrowed(items: DynamoDbItem[]): { wanted: DynamoDbItem[]; ended: boolean } {
    const { config, request, order, cursor } = this.query;
    if (cursor === undefined) return { wanted: items, ended: false };
    const behind = items.filter((item) => {
      const difference = order.compare({ item, shard: this.shard }, cursor);
      return (difference > 0 || this.shard === cursor.shard) && !isMoved(config, item, cursor);
    });
    const range = this.segment?.widened ? sortKeyRange(request.sortKey) : undefined;
    const end = behind.findIndex(
      (item) => range !== undefined && !isInRange(item[config.sortKeyAttributes[0]!] as SortableValue, range),
    );
    return end === -1 ? { wanted: behind, ended: false } : { wanted: behind.slice(0, end), ended: true };
  }
}

/** Whether this is the item of the cursor, which has moved to another shard since the page that returned it. */
function isMoved(config: ShardedIndexConfig, item: DynamoDbItem, cursor: CursorPosition): boolean {
  return positionAttributes(config).every(
    (attribute) => compareAttributeValues(item[attribute]!, cursor.item[attribute]!) === 0,
  );
}

/**
 * DynamoDB also charges for the attributes that an answer leaves out. So the units show how large an item is at most.
 */
function sizesByUnits(readUnits: number, items: number): number[] {
  return items === 0 ? [] : [(2 * readUnits * BLOCK_BYTES) / items];
}

/**
 * The range of a read that goes on within its segment and ends with the sort key of a position. The start key of the
 * read says where it goes on; the range may include items that the start key excludes.
 */
function endAt(
  { item }: Position<DynamoDbItem>,
  { range }: Segment,
  { config, request }: IndexQuery,
): SortKeyRange | undefined {
  const [sortAttribute] = config.sortKeyAttributes;
  if (sortAttribute === undefined) return range;
  const cut = request.order === 'descending' ? rangeFrom : rangeUpTo;
  return cut(range, { sortKey: item[sortAttribute] as SortableValue, inclusive: true });
}

/**
 * The part of a shard behind a cursor. In the shard of the cursor, it is what follows the cursor's item. In another
 * shard it is what follows the cursor's sort key, and it includes that sort key if the shard comes later in the order.
 */
function segmentOf({ config, request, order, cursor }: IndexQuery, shard: number): Segment | undefined {
  const range = sortKeyRange(request.sortKey);
  if (cursor === undefined) return { range };
  if (cursor.shard === shard) return { range, exclusiveStartKey: startKey(config, request, cursor) };

  const isLater = order.compare({ item: cursor.item, shard }, cursor) > 0;
  const [sortAttribute, ...tieBreakers] = config.sortKeyAttributes;
  if (request.order === 'unordered' || sortAttribute === undefined) return isLater ? { range } : undefined;
  const inclusive = isLater || tieBreakers.length > 0;
  if (range?.kind === 'eq' && !inclusive) return undefined;
  const cut = request.order === 'descending' ? rangeUpTo : rangeFrom;
  return { range: cut(range, { sortKey: cursor.item[sortAttribute]!, inclusive }), widened: true };
}

/** The key that DynamoDB would return as LastEvaluatedKey after the cursor's item. */
function startKey(config: ShardedIndexConfig, { value }: FanOutRequest, { item, shard }: CursorPosition): DynamoDbItem {
  return { ...item, ...partitionKey(config, value, shard) };
}

function partitionKey(config: ShardedIndexConfig, value: string | number | undefined, shard: number): DynamoDbItem {
  const key: DynamoDbItem = { [config.shardAttribute]: toAttributeValue(shardAttributeValue(config, value, shard)) };
  if (config.keyLayout === 'multi-attribute' && config.valueAttribute !== undefined) {
    key[config.valueAttribute] = toAttributeValue(value!);
  }
  return key;
}

const OPERATORS = { eq: '=', lt: '<', lte: '<=', gt: '>', gte: '>=' } as const;

function queryInput({ config, request }: IndexQuery, shard: number, segment: Segment): IndexQueryInput {
  const names: Record<string, string> = { ...request.expressionAttributeNames };
  const values: Record<string, unknown> = { ...request.expressionAttributeValues };
  const name = (attribute: string): string => {
    const placeholder = `#${RESERVED_PLACEHOLDER}${Object.keys(names).length}`;
    names[placeholder] = attribute;
    return placeholder;
  };
  const operand = (value: unknown): string => {
    const placeholder = `:${RESERVED_PLACEHOLDER}${Object.keys(values).length}`;
    values[placeholder] = value;
    return placeholder;
  };
  const conditions = Object.entries(partitionKey(config, request.value, shard)).map(
    ([attribute, value]) => `${name(attribute)} = ${operand(value)}`,
  );
  if (segment.range !== undefined) {
    const sortKey = name(config.sortKeyAttributes[0]!);
    conditions.push(rangeCondition(sortKey, segment.range.kind, segment.range.operands.map(operand)));
  }
  const projection = request.projection && [...new Set([...request.projection, ...positionAttributes(config)])];
  return {
    TableName: config.tableName,
    IndexName: config.indexName,
    KeyConditionExpression: conditions.join(' AND '),
    ...(request.filterExpression === undefined ? {} : { FilterExpression: request.filterExpression }),
    ...(projection === undefined ? {} : { ProjectionExpression: projection.map(name).join(', ') }),
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: values,
    ...(segment.exclusiveStartKey === undefined ? {} : { ExclusiveStartKey: segment.exclusiveStartKey }),
    ScanIndexForward: request.order !== 'descending',
    ReturnConsumedCapacity: 'TOTAL',
  };
}

function rangeCondition(sortKey: string, kind: SortKeyRange['kind'], operands: string[]): string {
  if (kind === 'between') return `${sortKey} BETWEEN ${operands[0]} AND ${operands[1]}`;
  if (kind === 'beginsWith') return `begins_with(${sortKey}, ${operands[0]})`;
  return `${sortKey} ${OPERATORS[kind]} ${operands[0]}`;
}
