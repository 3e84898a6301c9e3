import type { DynamoDbItem } from '../../aws-client/attribute-value';
import { WrongOrderError } from '../../fan-out/fan-out-errors';
import { BLOCK_BYTES } from '../../fan-out/read-size';
import type { ShardPage, ShardRead, ShardReader } from '../../fan-out/shard-reader';
import { isAfterRange } from '../../fan-out/value-range';
import { isRecord } from '../../kernel/checks';
import { IncompleteAnswerError } from '../../kernel/incomplete-answer-error';
import { addToTrail, type PageTrail } from '../../kernel/pages';
import type { IndexQueryInput, IndexQueryOutput } from '../client/query-client';
import { rejectionOf } from '../client/query-rejection';
import { identityAttributes, valueInKey } from '../config/item-identity';
import { isTableConfig, type ShardedConfig } from '../config/sharded-index-config';
import { shardAttributeValue } from '../config/stored-place';
import { compareAttributeValues, type SortableValue } from './attribute-order';
import type { CheckedRequest } from './checked-request';
import { type CursorPosition, encodeValue, positionAttributes } from './cursor';
import { type FanOutRequest, RESERVED_PLACEHOLDER } from './fan-out-request';
import { type IndexShard, indexShards } from './index-shard';
import { itemBytes } from './item-bytes';
import { compareSortKeys } from './position-order';
import type { ReadProgress } from './resume-point';
import { piecesAfterCursor, piecesAfterTies, pieceUpTo, type ShardPiece, tiesAfterCursor } from './shard-piece';
import { type KeyTerm, rangeTerm, termAfter } from './sort-key-range';
import { toAttributeValue } from './sort-key-select';

interface IndexReaders {
  /** One reader for each shard. */
  readers: IndexShardReader[];
  /**
   * Readers of the items that come before all items of `readers`. The query reads the leading shards first, one shard after the
   * other.
   */
  leading?: IndexShardReader[];
}

/**
 * Creates the readers of all shards of a query. Items with the same sort key are ordered by shard. So a page that
 * begins among many items with the same sort key reads shard after shard: it needs the items of one or two shards
 * instead of a part of every shard.
 */
export function indexReaders(query: CheckedRequest): IndexReaders {
  const { config, values, cursor, request, direction } = query;
  const shards = indexShards(config, values);
  const ties = cursor?.ties.at(-1) ?? 0;
  if (request.limit === undefined || ties < request.limit) {
    return { readers: shards.map((shard) => new IndexShardReader(query, shard)) };
  }
  const inOrder = direction === 1 ? shards : shards.toReversed();
  return {
    readers: shards.map((shard) => new IndexShardReader(query, shard, piecesAfterTies(query))),
    leading: inOrder.map((shard) => new IndexShardReader(query, shard, tiesAfterCursor(query, shard.number))),
  };
}

/** Creates the readers of the shards that were not read completely. Each reader continues where `progress` ends. */
export function unreadShards(
  query: CheckedRequest,
  shards: readonly IndexShard[],
  progress: ReadProgress,
): IndexShardReader[] {
  return shards
    .filter((shard) => !progress.isFinished(shard))
    .map((shard) => {
      const piece = { ...query.select, repeats: 0, startKey: progress.keyOf(shard) };
      return new IndexShardReader(query, shard, [piece]);
    });
}

/** The position where the next read of a shard begins. The position is a key within a piece, or the beginning of a piece. */
interface ReadPosition {
  piece: number;
  lastKey?: DynamoDbItem;
  /**
   * The earlier `LastEvaluatedKey`s of this piece, to detect a loop. The reader sets this field when it continues the piece for
   * the second time.
   */
  trail?: PageTrail;
}

/**
 * The number of items of a response whose sizes are measured. The sizes of all other items are estimated from the measured
 * sizes.
 */
const SIZED_ITEMS = 20;

const EMPTY_PAGE: ShardPage<DynamoDbItem> = {
  items: [],
  itemsRead: 0,
  itemsHidden: 0,
  consumedReadUnits: 0,
  itemSizes: [],
};

/** Reads one shard of a DynamoDB index, page by page, from its start or from a cursor. */
export class IndexShardReader implements ShardReader<DynamoDbItem> {
  readonly shard: number;

  constructor(
    private readonly query: CheckedRequest,
    private readonly indexShard: IndexShard,
    private readonly pieces: readonly ShardPiece[] = piecesAfterCursor(query, indexShard.number),
  ) {
    this.shard = indexShard.number;
  }

  get exhausted(): boolean {
    return this.pieces.length === 0;
  }

  /** The last key of the page that has this `next`. The next read continues after this key. */
  static lastKeyOf(next: unknown): DynamoDbItem | undefined {
    return (next as ReadPosition | undefined)?.lastKey;
  }

  async read({ from, limit, until, signal }: ShardRead<DynamoDbItem>): Promise<ShardPage<DynamoDbItem>> {
    const { request, sortKeyAttributes, direction } = this.query;
    const at = (from as ReadPosition | undefined) ?? { piece: 0 };
    const whole = this.pieces[at.piece]!;
    const piece = until === undefined ? whole : pieceUpTo(whole, until.item, sortKeyAttributes, direction);
    if (piece === undefined) return EMPTY_PAGE;
    const input = this.queryInput(piece, at.lastKey ?? this.startKey(piece));
    if (limit !== undefined) input.Limit = limit + (at.lastKey === undefined ? piece.repeats : 0);
    const response = await this.send(input, signal);
    const { lastKey } = response;
    return {
      items: this.newItems(whole, response.items),
      ...(lastKey === undefined || this.isAfter(lastKey, whole)
        ? this.nextPiece(at.piece, piece)
        : { next: this.continueAfter(at, lastKey), readTo: this.readTo(lastKey, whole) }),
      itemsRead: response.itemsRead,
      itemsHidden: response.itemsRead - response.items.length,
      consumedReadUnits: response.consumedReadUnits,
      itemSizes: sizesOf(request, response),
    };
  }

  /** Counts the items of the next response. The "items" of the returned page are counts. */
  async count({ from, signal }: ShardRead<number>): Promise<ShardPage<number>> {
    const piece = this.pieces[0]!;
    const at = (from as ReadPosition | undefined) ?? { piece: 0 };
    const startKey = at.lastKey ?? this.startKey(piece);
    const input: IndexQueryInput = { ...this.queryInput(piece, startKey), Select: 'COUNT' };
    const response = await this.send(input, signal);
    return {
      items: [response.count],
      ...(response.lastKey && { next: this.continueAfter(at, response.lastKey) }),
      itemsRead: response.itemsRead,
      itemsHidden: response.itemsRead - response.count,
      consumedReadUnits: response.consumedReadUnits,
      itemSizes: [],
    };
  }

  /**
   * @throws IncompleteAnswerError if the response cannot be parsed, or lacks keys of the index
   * @throws WrongOrderError if the items are not in order
   * @throws IndexNotReadyError or IndexNotFoundError if the index cannot be queried
   * @throws QueryRejectedError if DynamoDB rejects the query as invalid
   */
  private async send(input: IndexQueryInput, abortSignal: AbortSignal | undefined): Promise<CompleteResponse> {
    const { client, config } = this.query;
    try {
      const response = completeResponse(positionAttributes(config), input, await client.query(input, { abortSignal }));
      this.checkOrder(input.ExclusiveStartKey, response);
      return response;
    } catch (error) {
      if (isUnreadable(error)) throw new IncompleteAnswerError('Query', EXPECTED, { cause: error });
      throw rejectionOf(config, error) ?? error;
    }
  }

  /**
   * Checks that a response is in order. The merge, the cursor and the next read continue after an item or after
   * LastEvaluatedKey, so an item that comes too late in the responses would be missed.
   */
  private checkOrder(startKey: DynamoDbItem | undefined, { items, lastKey }: CompleteResponse): void {
    const { sortKeyAttributes, direction } = this.query;
    let before = startKey;
    const check = (key: DynamoDbItem): void => {
      if (before !== undefined && compareSortKeys(sortKeyAttributes, direction, before, key) > 0) {
        throw new WrongOrderError('Query', this.shard);
      }
      before = key;
    };
    items.forEach(check);
    if (lastKey !== undefined) check(lastKey);
  }

  /**
   * Continues after a key. DynamoDB returns items with equal sort keys in no defined order, so the reader detects a loop only
   * when a LastEvaluatedKey comes again.
   *
   * @throws IncompleteAnswerError if an earlier response had the same LastEvaluatedKey
   */
  private continueAfter({ piece, lastKey: before, trail }: ReadPosition, lastKey: DynamoDbItem): ReadPosition {
    if (before === undefined) return { piece, lastKey };
    const names = positionAttributes(this.query.config);
    const page = names.map((name) => encodeValue(lastKey[name] as SortableValue)).join();
    return { piece, lastKey, trail: addToTrail('Query', page, trail) };
  }

  /** Returns the items that belong to the piece and come after the cursor. */
  private newItems(piece: ShardPiece, items: DynamoDbItem[]): DynamoDbItem[] {
    const { config, cursor } = this.query;
    if (cursor === undefined) return items;
    return items.filter(
      (item) => this.isAfterCursor(item, piece) && !this.isAfter(item, piece) && !isMoved(config, item, cursor),
    );
  }

  /** Whether a key comes after the piece. The key condition of a query can select slightly more items than the piece has. */
  private isAfter(key: DynamoDbItem, { equal, range }: ShardPiece): boolean {
    const { sortKeyAttributes, direction } = this.query;
    const attribute = sortKeyAttributes[equal.length];
    return (
      attribute !== undefined && isAfterRange(key[attribute] as SortableValue, range, direction, compareAttributeValues)
    );
  }

  private isAfterCursor(item: DynamoDbItem, { startKey }: ShardPiece): boolean {
    const { cursor, order } = this.query;
    if (cursor === undefined || startKey !== undefined) return true;
    return order.compare({ item, shard: this.shard }, cursor) > 0;
  }

  /**
   * The key up to which this page has read. Undefined if this page has read only items that earlier pages have already
   * returned.
   */
  private readTo(lastKey: DynamoDbItem, piece: ShardPiece): DynamoDbItem | undefined {
    return this.isAfterCursor(lastKey, piece) ? lastKey : undefined;
  }

  /** Continues with the next piece after the end of a piece. Returns nothing if only a part of the piece was read. */
  private nextPiece(index: number, read: ShardPiece): Pick<ShardPage<DynamoDbItem>, 'next' | 'readTo'> {
    const whole = this.pieces[index]!;
    if (read !== whole || index + 1 === this.pieces.length) return {};
    const { sortKeyAttributes } = this.query;
    const readTo = Object.fromEntries(whole.equal.map((value, column) => [sortKeyAttributes[column]!, value]));
    return { next: { piece: index + 1 } satisfies ReadPosition, readTo };
  }

  /** The ExclusiveStartKey of a piece, in the form of a LastEvaluatedKey of DynamoDB. */
  private startKey({ startKey }: ShardPiece): DynamoDbItem | undefined {
    return startKey && { ...startKey, ...this.partitionKey() };
  }

  private partitionKey(): DynamoDbItem {
    const { config } = this.query;
    const { value, name, shard } = this.indexShard;
    const key: DynamoDbItem = {
      [config.shardAttribute]: toAttributeValue(shardAttributeValue(config, name, shard)),
    };
    if (config.keyLayout === 'multi-attribute' && config.valueAttribute !== undefined) {
      key[config.valueAttribute] = toAttributeValue(value!);
    }
    return key;
  }

  private queryInput(piece: ShardPiece, startKey: DynamoDbItem | undefined): IndexQueryInput {
    const { config, request, direction } = this.query;
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
    const conditions = Object.entries(this.partitionKey()).map(
      ([attribute, value]) => `${name(attribute)} = ${operand(value)}`,
    );
    for (const [attribute, { operator, operands }] of this.sortKeyTerms(piece, startKey)) {
      conditions.push(conditionText(name(attribute), operator, operands.map(operand)));
    }
    const projection = request.projection && [...new Set([...request.projection, ...attributesToRead(config)])];
    return {
      TableName: config.tableName,
      IndexName: config.indexName,
      KeyConditionExpression: conditions.join(' AND '),
      FilterExpression: request.filterExpression,
      ProjectionExpression: projection?.map(name).join(', '),
      ExpressionAttributeNames: names,
      ExpressionAttributeValues: values,
      ExclusiveStartKey: startKey,
      ScanIndexForward: direction === 1,
      ...(request.consistentRead && { ConsistentRead: true }),
      ReturnConsumedCapacity: 'TOTAL',
    };
  }

  private sortKeyTerms(
    { equal, range, beginEarly }: ShardPiece,
    startKey: DynamoDbItem | undefined,
  ): [string, KeyTerm][] {
    const { sortKeyAttributes, direction } = this.query;
    const terms = equal.map((value, column): [string, KeyTerm] => [
      sortKeyAttributes[column]!,
      { operator: '=', operands: [value] },
    ]);
    const attribute = sortKeyAttributes[equal.length];
    if (attribute === undefined) return terms;
    const term = rangeTerm(range, direction, beginEarly);
    const remaining = startKey === undefined ? term : termAfter(term, startKey[attribute] as SortableValue, direction);
    return remaining === undefined ? terms : [...terms, [attribute, remaining]];
  }
}

/** Whether this is the item of the cursor. The item has moved to another shard since an earlier page returned it. */
function isMoved(config: ShardedConfig, item: DynamoDbItem, cursor: CursorPosition): boolean {
  if (!cursor.isItem) return false;
  const same = (attribute: string): boolean => compareAttributeValues(item[attribute]!, cursor.item[attribute]!) === 0;
  if (!isTableConfig(config)) return positionAttributes(config).every(same);
  // If other attributes decide the shard, the cursor does not contain these attributes. Then the query cannot recognise a moved
  // item.
  const identity = identityAttributes(config);
  const known = config.strategy === 'calculated' && identity.length === 1;
  return known && same(identity[0]!) && valueInKey(config, item) === valueInKey(config, cursor.item);
}

/** The attributes of an item from which a query creates a cursor and recognises a moved item. */
function attributesToRead(config: ShardedConfig): string[] {
  return isTableConfig(config) ? [...positionAttributes(config), ...config.shardedBy] : positionAttributes(config);
}

/** Removes the attributes that the query read only to order and identify items. */
export function projectedItem(item: DynamoDbItem, projection: string[] | undefined): DynamoDbItem {
  if (projection === undefined) return item;
  return Object.fromEntries(Object.entries(item).filter(([attribute]) => projection.includes(attribute)));
}

/**
 * Estimates the sizes of the items of a response. The function measures the items if the response has all their attributes.
 * DynamoDB also charges for attributes outside a projection and for hidden items, so in these cases the consumed units give an
 * upper bound. If a filter hides all items, a lower bound is returned too: otherwise a single small item would always count as
 * a whole block.
 */
function sizesOf({ projection, consistentRead }: FanOutRequest, response: CompleteResponse): number[] {
  const { items, itemsRead, consumedReadUnits } = response;
  if (projection === undefined && items.length > 0) return items.slice(0, SIZED_ITEMS).map(itemBytes);
  // Some clients do not report consumed capacity.
  if (itemsRead === 0 || consumedReadUnits === 0) return [];
  const blocks = consistentRead ? consumedReadUnits : 2 * consumedReadUnits;
  const most = (blocks * BLOCK_BYTES) / itemsRead;
  return items.length > 0 ? [most] : [most, most - BLOCK_BYTES / itemsRead];
}

interface CompleteResponse {
  items: DynamoDbItem[];
  count: number;
  itemsRead: number;
  lastKey?: DynamoDbItem;
  consumedReadUnits: number;
}

const EXPECTED = 'ScannedCount, Items with the keys of the index or Count, and no LastEvaluatedKey that came before';

/** The errors that clients throw for a response that they cannot parse. */
const PARSER_ERRORS = ['RangeError', 'SyntaxError', 'TypeError'];

function isUnreadable(error: unknown): boolean {
  return PARSER_ERRORS.includes(Object(error).name);
}

/** @throws IncompleteAnswerError if the response lacks its counts, or a key that determines the order or the next read */
function completeResponse(
  keyAttributes: readonly string[],
  { ExclusiveStartKey }: IndexQueryInput,
  output: IndexQueryOutput,
): CompleteResponse {
  const { Items, Count, ScannedCount, LastEvaluatedKey, ConsumedCapacity }: IndexQueryOutput = Object(output);
  const count = Array.isArray(Items) ? Items.length : Count;
  const hasKeys = (item: unknown): item is DynamoDbItem => keyAttributes.every((name) => isKey(Object(item)[name]));
  const items = (Items ?? []) as DynamoDbItem[];
  const lastKey = (LastEvaluatedKey ?? undefined) as DynamoDbItem | undefined;
  const isComplete =
    typeof count === 'number' &&
    Number.isFinite(ScannedCount) &&
    Array.isArray(items) &&
    items.every((item) => hasKeys(item) && Object.values(item).every(isRecord)) &&
    (lastKey === undefined || (hasKeys(lastKey) && !isSameKey(keyAttributes, lastKey, ExclusiveStartKey)));
  if (!isComplete) throw new IncompleteAnswerError('Query', EXPECTED);
  return {
    items,
    count,
    itemsRead: ScannedCount!,
    ...(lastKey !== undefined && { lastKey }),
    consumedReadUnits: Number.isFinite(ConsumedCapacity?.CapacityUnits) ? ConsumedCapacity!.CapacityUnits! : 0,
  };
}

function isKey(value: unknown): value is SortableValue {
  const { S, N, B }: { S?: unknown; N?: unknown; B?: unknown } = Object(value);
  return typeof S === 'string' || typeof N === 'string' || B instanceof Uint8Array;
}

/** Whether a query ended at the key where it began. The next query would begin there again, in an endless loop. */
function isSameKey(keyAttributes: readonly string[], key: DynamoDbItem, start: DynamoDbItem | undefined): boolean {
  return start !== undefined && keyAttributes.every((name) => compareAttributeValues(key[name]!, start[name]!) === 0);
}

function conditionText(attribute: string, operator: KeyTerm['operator'], operands: string[]): string {
  if (operator === 'BETWEEN') return `${attribute} BETWEEN ${operands[0]} AND ${operands[1]}`;
  if (operator === 'begins_with') return `begins_with(${attribute}, ${operands[0]})`;
  return `${attribute} ${operator} ${operands[0]}`;
}
