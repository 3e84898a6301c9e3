import { type ShardedIndexConfig, shardAttributeValue } from '../write-sharding/sharded-index-config';
import type { SortableValue } from './attribute-order';
import { type CursorPosition, positionAttributes } from './cursor';
import { type FanOutRequest, RESERVED_PLACEHOLDER, toAttributeValue } from './fan-out-request';
import type { Item, QueryClient, QueryInput } from './query-client';
import type { ShardPage, ShardReader } from './shard-reader';
import { isInRange, resumeAscending, resumeDescending, type SortKeyRange, sortKeyRange } from './sort-key-range';
import type { ComparePositions } from './total-order';

/** What the readers of one query have in common. */
export interface IndexQuery {
  client: QueryClient;
  config: ShardedIndexConfig;
  request: FanOutRequest;
  compare: ComparePositions;
  cursor: CursorPosition | undefined;
}

/** The part of a shard that a query still has to read. */
interface Segment {
  range: SortKeyRange | undefined;
  exclusiveStartKey?: Item;
  /** The range may cover more than the query does: items before the cursor, or behind the query's own end. */
  widened?: boolean;
}

/** Reads one shard of a DynamoDB index, page by page, from its start or from a cursor. */
export class IndexShardReader implements ShardReader {
  exhausted: boolean;
  private readonly input: QueryInput | undefined;
  private readonly widened: boolean;

  constructor(
    private readonly query: IndexQuery,
    readonly shard: number,
  ) {
    const segment = segmentOf(query, shard);
    this.exhausted = segment === undefined;
    this.widened = segment?.widened === true;
    this.input = segment && queryInput(query, shard, segment);
  }

  async read(limit: number | undefined): Promise<ShardPage> {
    const input = this.input!;
    const page = await this.query.client.query(limit === undefined ? { ...input } : { ...input, Limit: limit });
    const { Items = [], ScannedCount, LastEvaluatedKey, ConsumedCapacity } = page;
    input.ExclusiveStartKey = LastEvaluatedKey as Item | undefined;
    const items = this.widened ? this.narrow(Items as Item[]) : (Items as Item[]);
    this.exhausted ||= LastEvaluatedKey === undefined;
    return {
      items,
      exhausted: this.exhausted,
      itemsRead: ScannedCount ?? Items.length,
      consumedReadUnits: ConsumedCapacity?.CapacityUnits ?? 0,
    };
  }

  /** Drops what stands before the cursor, and ends the shard where the query ends. */
  private narrow(items: Item[]): Item[] {
    const { config, request, compare, cursor } = this.query;
    const range = sortKeyRange(request.sortKey);
    const behind = items.filter((item) => compare({ item, shard: this.shard }, cursor!) > 0);
    const end = behind.findIndex(
      (item) => range !== undefined && !isInRange(item[config.sortKeyAttributes[0]!] as SortableValue, range),
    );
    if (end === -1) return behind;
    this.exhausted = true;
    return behind.slice(0, end);
  }
}

/**
 * What is left of a shard behind a cursor: in the cursor's own shard, what follows its item; in the other shards, what
 * follows its sort key, or starts at it if they come later in the order.
 */
function segmentOf({ config, request, compare, cursor }: IndexQuery, shard: number): Segment | undefined {
  const range = sortKeyRange(request.sortKey);
  if (cursor === undefined) return { range };
  if (cursor.shard === shard) return { range, exclusiveStartKey: startKey(config, request, cursor) };

  const isLater = compare({ item: cursor.item, shard }, cursor) > 0;
  const [sortAttribute, ...tieBreakers] = config.sortKeyAttributes;
  if (request.order === 'unordered' || sortAttribute === undefined) return isLater ? { range } : undefined;
  const inclusive = isLater || tieBreakers.length > 0;
  if (range?.kind === 'eq' && !inclusive) return undefined;
  const resume = request.order === 'descending' ? resumeDescending : resumeAscending;
  return { range: resume(range, { sortKey: cursor.item[sortAttribute]!, inclusive }), widened: true };
}

/** The key that DynamoDB would have returned as LastEvaluatedKey behind the cursor's item. */
function startKey(config: ShardedIndexConfig, { value }: FanOutRequest, { item, shard }: CursorPosition): Item {
  return { ...item, ...partitionKey(config, value, shard) };
}

function partitionKey(config: ShardedIndexConfig, value: string | number | undefined, shard: number): Item {
  const key: Item = { [config.shardAttribute]: toAttributeValue(shardAttributeValue(config, value, shard)) };
  if (config.keyLayout === 'multi-attribute' && config.valueAttribute !== undefined) {
    key[config.valueAttribute] = toAttributeValue(value!);
  }
  return key;
}

const OPERATORS = { eq: '=', lt: '<', lte: '<=', gt: '>', gte: '>=' } as const;

function queryInput({ config, request }: IndexQuery, shard: number, segment: Segment): QueryInput {
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
