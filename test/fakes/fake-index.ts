import { createHash } from 'node:crypto';
import type {
  AttributeValue,
  DynamoDbItem,
  IndexQueryInput,
  IndexQueryOutput,
  QueryClient,
  ShardedIndexConfig,
} from '../../lib/core';
import { compareAttributeValues, type SortableValue } from '../../lib/core/sharded-index/attribute-order';
import { itemBytes } from '../../lib/core/sharded-index/item-bytes';

export interface FakeIndexOptions {
  /** Most items of one answer. */
  pageItems?: number;
  /** Most bytes evaluated for one answer, at least one item. @default 1 MB, as DynamoDB has it */
  pageBytes?: number;
  /** Whether an answer that ends with its partition still names a last key, as DynamoDB does when Limit is met. */
  falseLastKeys?: boolean;
}

/** An item as the index keeps it, with what a query compares. */
interface Entry {
  item: DynamoDbItem;
  bytes: number;
  /** Where it stands among items of its sort key. */
  hidden: string;
}

const MEGABYTE = 2 ** 20;
const BLOCK_BYTES = 4_096;

/**
 * A global secondary index in memory with DynamoDB's semantics: items with one sort key stand in an order of the
 * service's own, a start key is a position that need not exist any more, an answer ends at its Limit or at a megabyte
 * before the filter, may be empty and still not the last, and costs half a read unit for each 4 KB.
 */
export class FakeIndex implements QueryClient {
  readonly requests: IndexQueryInput[] = [];
  private readonly entries = new Map<string, Entry>();
  private readonly partitions = new Map<string, Entry[]>();

  constructor(
    private readonly config: ShardedIndexConfig,
    private readonly options: FakeIndexOptions = {},
  ) {}

  /** Writes an item, in place of the one with its table key. */
  put(item: DynamoDbItem): void {
    this.delete(item);
    const key = this.tableKey(item);
    const entry = { item, bytes: itemBytes(item), hidden: hiddenPlace(key) };
    this.entries.set(key, entry);
    const partition = this.partitionOf(item);
    partition.splice(
      firstIndex(partition, (other) => this.compareEntries(other, entry) > 0),
      0,
      entry,
    );
  }

  /**
   * Writes a second copy of an item, as the index can show for a moment while the item moves from shard to shard. It is
   * no entry of the table: `all` does not list it.
   */
  putStray(item: DynamoDbItem): () => void {
    const entry = { item, bytes: itemBytes(item), hidden: hiddenPlace(this.tableKey(item)) };
    const partition = this.partitionOf(item);
    partition.splice(
      firstIndex(partition, (other) => this.compareEntries(other, entry) > 0),
      0,
      entry,
    );
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

  /** Everything in the index, unordered. */
  all(): DynamoDbItem[] {
    return [...this.entries.values()].map(({ item }) => item);
  }

  async query(input: IndexQueryInput): Promise<IndexQueryOutput> {
    this.requests.push(input);
    await Promise.resolve();
    return this.answer(input);
  }

  /** The order of items with one sort key: the service's own affair. */
  compareTies(a: DynamoDbItem, b: DynamoDbItem): number {
    return compareTexts(hiddenPlace(this.tableKey(a)), hiddenPlace(this.tableKey(b)));
  }

  private answer(input: IndexQueryInput): IndexQueryOutput {
    const { ExclusiveStartKey: start, ScanIndexForward: forward } = input;
    const { partition, range, low, high } = keyConditions(input, this.partitionAttributes());
    const { sortKeyAttributes } = this.config;
    const inRange = (item: DynamoDbItem): boolean => range(item[sortKeyAttributes[0]!]!);
    if (start !== undefined && !(partitionText(start, this.partitionAttributes()) === partition && inRange(start))) {
      throw new Error('The provided starting key is outside query boundaries based on provided conditions');
    }
    const entries = this.partitions.get(partition) ?? [];
    const startEntry = start && { item: start, hidden: hiddenPlace(this.tableKey(start)) };
    let at = forward ? 0 : entries.length - 1;
    if (startEntry !== undefined) {
      at = forward
        ? firstIndex(entries, (entry) => this.compareEntries(entry, startEntry) > 0)
        : firstIndex(entries, (entry) => this.compareEntries(entry, startEntry) >= 0) - 1;
    }
    const [sortAttribute = ''] = sortKeyAttributes;
    if (forward && low !== undefined) {
      at = Math.max(
        at,
        firstIndex(entries, ({ item }) => compareAttributeValues(item[sortAttribute]!, low) >= 0),
      );
    } else if (!forward && high !== undefined) {
      at = Math.min(at, firstIndex(entries, ({ item }) => compareAttributeValues(item[sortAttribute]!, high) > 0) - 1);
    }
    const step = forward ? 1 : -1;
    const skip = (): void => {
      while (entries[at] !== undefined && !inRange(entries[at]!.item)) at += step;
    };
    const limit = Math.min(input.Limit ?? Number.POSITIVE_INFINITY, this.options.pageItems ?? Number.POSITIVE_INFINITY);
    const evaluated: DynamoDbItem[] = [];
    let bytes = 0;
    skip();
    while (entries[at] !== undefined && evaluated.length < limit && bytes < (this.options.pageBytes ?? MEGABYTE)) {
      evaluated.push(entries[at]!.item);
      bytes += entries[at]!.bytes;
      at += step;
      skip();
    }
    const last = evaluated.at(-1);
    const cutShort = entries[at] !== undefined || (this.options.falseLastKeys && evaluated.length === input.Limit);
    return {
      Items: evaluated.filter(filterCondition(input)).map((item) => projected(item, input)),
      ScannedCount: evaluated.length,
      ...(cutShort && last ? { LastEvaluatedKey: this.indexKey(last) } : {}),
      ConsumedCapacity: { CapacityUnits: 0.5 * Math.max(1, Math.ceil(bytes / BLOCK_BYTES)) },
    };
  }

  private compareSortKeys(a: DynamoDbItem, b: DynamoDbItem): number {
    for (const attribute of this.config.sortKeyAttributes) {
      const difference = compareAttributeValues(a[attribute]!, b[attribute]!);
      if (difference !== 0) return difference;
    }
    return 0;
  }

  private compareEntries(a: Omit<Entry, 'bytes'>, b: Omit<Entry, 'bytes'>): number {
    return this.compareSortKeys(a.item, b.item) || compareTexts(a.hidden, b.hidden);
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

const hiddenPlaces = new Map<string, string>();

/** Unrelated to the key, as far as anyone can tell. */
function hiddenPlace(key: string): string {
  const known = hiddenPlaces.get(key) ?? createHash('sha256').update(key).digest('hex');
  hiddenPlaces.set(key, known);
  return known;
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : Number(a !== b);
}

/** The first index whose element satisfies a condition that, once true, stays true. */
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

/** Understands `#a = :a` for each partition attribute, then one condition on the first sort attribute. */
function keyConditions(
  input: IndexQueryInput,
  partitionAttributes: readonly string[],
): { partition: string; range(value: AttributeValue): boolean; low?: SortableValue; high?: SortableValue } {
  const { KeyConditionExpression, ExpressionAttributeNames: names, ExpressionAttributeValues: values } = input;
  const conditions = KeyConditionExpression.split(' AND ');
  const partition: DynamoDbItem = {};
  for (const equality of conditions.splice(0, partitionAttributes.length)) {
    const [name, operator, operand] = equality.split(' ');
    if (operator !== '=') throw new Error('Query key condition not supported');
    partition[names[name!]!] = values[operand!];
  }
  const text = partitionText(partition, partitionAttributes);
  if (conditions.length === 0) return { partition: text, range: () => true };
  const { matches, low, high } = condition(conditions.join(' AND '), input);
  return { partition: text, range: matches, low, high };
}

function filterCondition(input: IndexQueryInput): (item: DynamoDbItem) => boolean {
  if (input.FilterExpression === undefined) return () => true;
  const { attribute, matches } = condition(input.FilterExpression, input);
  return (item) => item[attribute] !== undefined && matches(item[attribute]);
}

/** Understands the comparisons, BETWEEN and begins_with. */
function condition(
  text: string,
  { ExpressionAttributeNames: names, ExpressionAttributeValues: values }: IndexQueryInput,
): { attribute: string; matches(value: AttributeValue): boolean; low?: SortableValue; high?: SortableValue } {
  const tokens = /^(?:begins_with\((\S+), (\S+)\)|(\S+) (\S+) (\S+)(?: AND (\S+))?)$/.exec(text);
  if (tokens === null) throw new Error(`the fake does not understand ${text}`);
  const [, prefixed, prefix, name, operator, first, second] = tokens;
  const attribute = names[(prefixed ?? name)!]!;
  const operand = values[(prefix ?? first)!] as SortableValue;
  const upper = values[second ?? ''] as SortableValue;
  if (prefixed !== undefined) {
    const start = bytes(operand);
    return { attribute, low: operand, matches: (value) => bytes(value).subarray(0, start.length).equals(start) };
  }
  const to = (other: SortableValue) => (value: AttributeValue) => compareAttributeValues(value, other);
  const comparison = to(operand);
  switch (operator) {
    case '=':
      return { attribute, low: operand, high: operand, matches: (value) => comparison(value) === 0 };
    case '<':
      return { attribute, high: operand, matches: (value) => comparison(value) < 0 };
    case '<=':
      return { attribute, high: operand, matches: (value) => comparison(value) <= 0 };
    case '>':
      return { attribute, low: operand, matches: (value) => comparison(value) > 0 };
    case '>=':
      return { attribute, low: operand, matches: (value) => comparison(value) >= 0 };
    case 'BETWEEN': {
      const toUpper = to(upper);
      if (comparison(upper) < 0) throw new Error('The BETWEEN operator requires upper bound >= lower bound');
      return {
        attribute,
        low: operand,
        high: upper,
        matches: (value) => comparison(value) >= 0 && toUpper(value) <= 0,
      };
    }
    default:
      throw new Error(`the fake does not understand ${operator}`);
  }
}

function bytes(value: AttributeValue): Buffer {
  return 'S' in value ? Buffer.from(value.S) : Buffer.from((value as { B: Uint8Array }).B);
}
