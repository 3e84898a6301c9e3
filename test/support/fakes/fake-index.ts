import { createHash } from 'node:crypto';
import type {
  AttributeValue,
  DynamoDbItem,
  IndexQueryInput,
  IndexQueryOutput,
  QueryClient,
  ShardedConfig,
} from '../../../lib/core';
import { compareAttributeValues, type SortableValue } from '../../../lib/core/sharded-index/query/attribute-order';
import { itemBytes } from '../../../lib/core/sharded-index/query/item-bytes';
import { serviceError } from '../../../lib/testing/service-error';
import { refuseLongExpressions } from './condition';
import { storedItem } from './stored-item';

export interface FakeIndexOptions {
  /** The maximum number of items in one response. */
  pageItems?: number;
  /** A response evaluates at most this number of bytes, but always at least one item. @default 1 MB, as in DynamoDB */
  pageBytes?: number;
  /**
   * Whether the final response of a partition also contains a last evaluated key, as in DynamoDB if the response
   * reaches Limit.
   */
  falseLastKeys?: boolean;
  /** Whether a start key may be equal to the inclusive end of the range, as in emulators. @default false */
  takesLastPlace?: boolean;
  /**
   * The order of items with the same sort key, for a comparison with a service. @default an order that does not depend
   * on their keys
   */
  compareTies?(a: DynamoDbItem, b: DynamoDbItem): number;
}

/** A stored item with the values that a query compares. */
interface Entry {
  item: DynamoDbItem;
  bytes: number;
  /** The position of the item among the items with the same sort key. */
  hidden: string;
}

const MEGABYTE = 2 ** 20;
const BLOCK_BYTES = 4_096;

/**
 * A global secondary index or a table in memory with the behaviour of DynamoDB. Items with the same sort key have an order that
 * only the service knows. A start key may belong to a deleted item. A response ends at its Limit or at 1 MB, both counted before
 * the filter. A response may be empty although more items follow. A response costs half a read unit for each 4 KB.
 */
export class FakeIndex implements QueryClient {
  readonly requests: IndexQueryInput[] = [];
  private readonly entries = new Map<string, Entry>();
  private readonly partitions = new Map<string, Entry[]>();

  constructor(
    private readonly config: ShardedConfig,
    private readonly options: FakeIndexOptions = {},
  ) {}

  /** Writes an item and replaces the item with the same table key. */
  put(written: DynamoDbItem): void {
    const item = storedItem(written);
    this.delete(item);
    this.entries.set(this.tableKey(item), this.insert(item));
  }

  private insert(item: DynamoDbItem): Entry {
    const entry = { item, bytes: itemBytes(item), hidden: hiddenPlace(this.tableKey(item)) };
    const partition = this.partitionOf(item);
    const at = firstIndex(partition, (other) => this.compareEntries(other, entry) > 0);
    partition.splice(at, 0, entry);
    return entry;
  }

  /**
   * Adds a second copy of an item, because an index can contain an item twice while the item moves to another shard.
   * `all` does not contain the copy.
   */
  putStray(item: DynamoDbItem): () => void {
    const entry = this.insert(item);
    const partition = this.partitionOf(item);
    return () => partition.splice(partition.indexOf(entry), 1);
  }

  delete(item: DynamoDbItem): void {
    const key = this.tableKey(item);
    const entry = this.entries.get(key);
    if (entry === undefined) return;
    this.entries.delete(key);
    const partition = this.partitionOf(entry.item);
    partition.splice(partition.indexOf(entry), 1);
  }

  /** All items of the index in any order. */
  all(): DynamoDbItem[] {
    return [...this.entries.values()].map(({ item }) => item);
  }

  async query(input: IndexQueryInput): Promise<IndexQueryOutput> {
    refuseLongExpressions(input);
    this.requests.push(input);
    await Promise.resolve();
    return this.answer(input);
  }

  /** The order of items with the same sort key, which only the service knows. */
  compareTies(a: DynamoDbItem, b: DynamoDbItem): number {
    return (
      this.options.compareTies?.(a, b) ?? compareTexts(hiddenPlace(this.tableKey(a)), hiddenPlace(this.tableKey(b)))
    );
  }

  private answer(input: IndexQueryInput): IndexQueryOutput {
    const { ExclusiveStartKey: start, ScanIndexForward: forward } = input;
    checkPlaceholders(input);
    if (input.ConsistentRead && this.config.indexName !== undefined) {
      throw invalid('Consistent reads are not supported on global secondary indexes');
    }
    const { partition, terms } = keyConditions(input, this.partitionAttributes(), this.config.sortKeyAttributes);
    if (start !== undefined) this.checkStartKey(start, partition, terms, forward);
    this.checkFilter(input);
    const entries = this.partitions.get(partition) ?? [];
    const from = firstIndex(entries, ({ item }) => sideOf(item, terms) >= 0);
    const to = firstIndex(entries, ({ item }) => sideOf(item, terms) > 0);
    let at = forward ? from : to - 1;
    if (start !== undefined) {
      const startEntry = { item: start, hidden: hiddenPlace(this.tableKey(start)) };
      at = forward
        ? Math.max(
            at,
            firstIndex(entries, (entry) => this.compareEntries(entry, startEntry) > 0),
          )
        : Math.min(at, firstIndex(entries, (entry) => this.compareEntries(entry, startEntry) >= 0) - 1);
    }
    const isLeft = (): boolean => (forward ? at < to : at >= from);
    const limit = Math.min(input.Limit ?? Number.POSITIVE_INFINITY, this.options.pageItems ?? Number.POSITIVE_INFINITY);
    const evaluated: DynamoDbItem[] = [];
    let bytes = 0;
    while (isLeft() && evaluated.length < limit && bytes < (this.options.pageBytes ?? MEGABYTE)) {
      evaluated.push(entries[at]!.item);
      bytes += entries[at]!.bytes;
      at += forward ? 1 : -1;
    }
    const last = evaluated.at(-1);
    const matching = evaluated.filter(filterCondition(input));
    const cutShort = isLeft() || (this.options.falseLastKeys && evaluated.length === input.Limit);
    return {
      ...(input.Select === 'COUNT' ? {} : { Items: matching.map((item) => projected(item, input)) }),
      Count: matching.length,
      ScannedCount: evaluated.length,
      ...(cutShort && last ? { LastEvaluatedKey: this.indexKey(last) } : {}),
      ConsumedCapacity: {
        CapacityUnits: (input.ConsistentRead ? 1 : 0.5) * Math.max(1, Math.ceil(bytes / BLOCK_BYTES)),
      },
    };
  }

  private checkFilter(input: IndexQueryInput): void {
    const keys = [...this.partitionAttributes(), ...this.config.sortKeyAttributes];
    const filtered = input.FilterExpression === undefined ? [] : termsOf(input.FilterExpression, input);
    const key = filtered.find(({ attribute }) => keys.includes(attribute));
    if (key !== undefined) {
      throw invalid(
        `Filter Expression can only contain non-primary key attributes: Primary key attribute: ${key.attribute}`,
      );
    }
  }

  /**
   * The rules of DynamoDB for a start key. The sources are recorded responses, and for one rule a report of a user. See
   * docs/decisions, "A cursor holds the key of one item".
   */
  private checkStartKey(start: DynamoDbItem, partition: string, terms: readonly Term[], forward: boolean): void {
    const attributes = Object.keys(this.indexKey(start)).sort();
    if (attributes.join() !== Object.keys(start).sort().join()) {
      throw invalid('The provided starting key is invalid');
    }
    const last = terms.at(-1);
    const bound =
      last &&
      { '<=': last.operands[0], '>=': last.operands[0], BETWEEN: last.operands[forward ? 1 : 0] }[last.operator];
    const travelsTo = last?.operator === 'BETWEEN' || last?.operator === (forward ? '<=' : '>=');
    const isLastPlace =
      travelsTo && bound !== undefined && compareAttributeValues(start[last!.attribute]!, bound) === 0;
    if (sideOf(start, terms) !== 0 || (isLastPlace && !this.options.takesLastPlace)) {
      throw invalid('The provided starting key does not match the range key predicate');
    }
    if (partitionText(start, this.partitionAttributes()) !== partition) {
      throw invalid(
        terms.length === 0
          ? 'The provided starting key is outside query boundaries based on provided conditions'
          : 'The query can return at most one row and cannot be restarted',
      );
    }
  }

  private compareSortKeys(a: DynamoDbItem, b: DynamoDbItem): number {
    for (const attribute of this.config.sortKeyAttributes) {
      const difference = compareAttributeValues(a[attribute]!, b[attribute]!);
      if (difference !== 0) return difference;
    }
    return 0;
  }

  private compareEntries(a: Omit<Entry, 'bytes'>, b: Omit<Entry, 'bytes'>): number {
    const bySortKey = this.compareSortKeys(a.item, b.item);
    if (bySortKey !== 0) return bySortKey;
    return this.options.compareTies?.(a.item, b.item) ?? compareTexts(a.hidden, b.hidden);
  }

  private partitionAttributes(): string[] {
    const { keyLayout, valueAttribute, shardAttribute } = this.config;
    return keyLayout === 'multi-attribute' && valueAttribute !== undefined
      ? [shardAttribute, valueAttribute]
      : [shardAttribute];
  }

  private partitionOf(item: DynamoDbItem): Entry[] {
    const text = partitionText(item, this.partitionAttributes());
    const partition = this.partitions.get(text) ?? [];
    this.partitions.set(text, partition);
    return partition;
  }

  private tableKey(item: DynamoDbItem): string {
    return JSON.stringify(this.config.tableKey.map((attribute) => item[attribute]));
  }

  private indexKey(item: DynamoDbItem): DynamoDbItem {
    const attributes = [...this.config.tableKey, ...this.config.sortKeyAttributes, ...this.partitionAttributes()];
    return Object.fromEntries(attributes.map((attribute) => [attribute, item[attribute]!]));
  }
}

function invalid(message: string): Error {
  return serviceError('ValidationException', message);
}

/** Fails if an expression does not use each name and each value of its request. */
function checkPlaceholders(input: IndexQueryInput): void {
  const { Limit, KeyConditionExpression, FilterExpression = '', ProjectionExpression = '' } = input;
  const used = `${KeyConditionExpression} ${FilterExpression} ${ProjectionExpression}`.split(/[\s(),]+/);
  const unused = (named: object): string =>
    Object.keys(named)
      .filter((name) => !used.includes(name))
      .join(', ');
  const names = unused(input.ExpressionAttributeNames);
  const values = unused(input.ExpressionAttributeValues);
  if (names !== '') throw invalid(`Value provided in ExpressionAttributeNames unused in expressions: keys: {${names}}`);
  if (values !== '')
    throw invalid(`Value provided in ExpressionAttributeValues unused in expressions: keys: {${values}}`);
  if (Limit !== undefined && Limit < 1) {
    throw invalid(
      `1 validation error detected: Value '${Limit}' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1`,
    );
  }
}

const hiddenPlaces = new Map<string, string>();

/** A position among items with the same sort key, calculated from the key so that it looks random. */
function hiddenPlace(key: string): string {
  const cached = hiddenPlaces.get(key) ?? createHash('sha256').update(key).digest('hex');
  hiddenPlaces.set(key, cached);
  return cached;
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : Number(a !== b);
}

/**
 * Binary search: the first index whose element meets a condition. If an element meets the condition, all later elements
 * must meet it too.
 */
function firstIndex<E>(elements: readonly E[], condition: (element: E) => boolean): number {
  let low = 0;
  let high = elements.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (condition(elements[middle]!)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function partitionText(item: Record<string, AttributeValue>, attributes: readonly string[]): string {
  return JSON.stringify(attributes.map((attribute) => item[attribute]));
}

function projected(
  item: DynamoDbItem,
  { ProjectionExpression, ExpressionAttributeNames: names }: IndexQueryInput,
): DynamoDbItem {
  if (ProjectionExpression === undefined) return item;
  const attributes = ProjectionExpression.split(', ').map((placeholder) => names[placeholder]);
  return Object.fromEntries(Object.entries(item).filter(([attribute]) => attributes.includes(attribute)));
}

/** A condition on one attribute. */
interface Term {
  attribute: string;
  operator: string;
  operands: SortableValue[];
}

/** Parses `#a = :a` for each partition attribute, and then conditions on the first sort attributes. */
function keyConditions(
  input: IndexQueryInput,
  partitionAttributes: readonly string[],
  sortKeyAttributes: readonly string[],
): { partition: string; terms: Term[] } {
  const all = termsOf(input.KeyConditionExpression, input);
  const terms = all.splice(partitionAttributes.length);
  const partition = Object.fromEntries(all.map(({ attribute, operands }) => [attribute, operands[0]!]));
  const supported =
    all.every(({ operator }) => operator === '=') &&
    terms.every(({ attribute }, index) => attribute === sortKeyAttributes[index]) &&
    terms.slice(0, -1).every(({ operator }) => operator === '=');
  if (!supported) throw invalid('Query key condition not supported');
  return { partition: partitionText(partition, partitionAttributes), terms };
}

function filterCondition(input: IndexQueryInput): (item: DynamoDbItem) => boolean {
  if (input.FilterExpression === undefined) return () => true;
  const terms = termsOf(input.FilterExpression, input);
  return (item) => terms.every(({ attribute }) => item[attribute] !== undefined) && sideOf(item, terms) === 0;
}

const TERM = /(?:begins_with\((\S+), (\S+)\)|(\S+) BETWEEN (\S+) AND (\S+)|(\S+) (=|<|<=|>|>=) (\S+))(?: AND |$)/gy;

/** Parses comparisons with an operator, BETWEEN and begins_with. */
function termsOf(
  text: string,
  { ExpressionAttributeNames: names, ExpressionAttributeValues: values }: IndexQueryInput,
): Term[] {
  const found = [...text.matchAll(TERM)];
  if (found.map(([matched]) => matched).join('') !== text) throw new Error(`the fake does not support ${text}`);
  return found.map(([, prefixed, prefix, between, low, high, name, operator, operand]) => {
    const attribute = names[(prefixed ?? between ?? name)!]!;
    const operands = [prefix ?? low ?? operand, high].flatMap((each) => (each === undefined ? [] : [values[each]]));
    if (between !== undefined && compareAttributeValues(operands[0], operands[1]) > 0) {
      throw invalid(
        'Invalid KeyConditionExpression: The BETWEEN operator requires upper bound to be greater than or equal to lower bound',
      );
    }
    return { attribute, operator: operator ?? (between === undefined ? 'begins_with' : 'BETWEEN'), operands };
  });
}

/**
 * Compares an item with the terms: 0 if the item meets the terms, -1 if the item is before their range, 1 if the item
 * is after their range.
 */
function sideOf(item: DynamoDbItem, terms: readonly Term[]): number {
  for (const term of terms) {
    const side = sideOfTerm(item[term.attribute]!, term);
    if (side !== 0) return side;
  }
  return 0;
}

function sideOfTerm(value: AttributeValue, { operator, operands }: Term): number {
  const difference = Math.sign(compareAttributeValues(value, operands[0]!));
  switch (operator) {
    case '=':
      return difference;
    case '<':
      return difference < 0 ? 0 : 1;
    case '<=':
      return Math.max(0, difference);
    case '>':
      return difference > 0 ? 0 : -1;
    case '>=':
      return Math.min(0, difference);
    case 'BETWEEN':
      return difference < 0 ? -1 : Math.max(0, Math.sign(compareAttributeValues(value, operands[1]!)));
    default:
      return bytes(value).subarray(0, bytes(operands[0]!).length).equals(bytes(operands[0]!)) ? 0 : difference;
  }
}

function bytes(value: AttributeValue): Buffer {
  return 'S' in value ? Buffer.from(value.S) : Buffer.from((value as { B: Uint8Array }).B);
}
