import { createHash } from 'node:crypto';
import type { AttributeValue, Item, QueryClient, QueryInput, QueryOutput, ShardedIndexConfig } from '../../lib/core';
import { compareAttributeValues, type SortableValue } from '../../lib/core/fan-out/attribute-order';

export interface FakeIndexOptions {
  /** Most items of one answer, in place of DynamoDB's megabyte. */
  pageItems?: number;
  /** Whether an answer that ends with its partition still names a last key, as DynamoDB does when Limit is met. */
  falseLastKeys?: boolean;
}

/**
 * A global secondary index in memory with DynamoDB's semantics: items with one sort key stand in an order of the
 * service's own, a start key is a position that need not exist any more, an answer may be empty and still not the last.
 */
export class FakeIndex implements QueryClient {
  readonly requests: QueryInput[] = [];
  private readonly items = new Map<string, Item>();

  constructor(
    private readonly config: ShardedIndexConfig,
    private readonly options: FakeIndexOptions = {},
  ) {}

  put(item: Item): void {
    this.items.set(this.tableKey(item), item);
  }

  delete(item: Item): void {
    this.items.delete(this.tableKey(item));
  }

  /** Everything in the index, unordered. */
  all(): Item[] {
    return [...this.items.values()];
  }

  async query(input: QueryInput): Promise<QueryOutput> {
    this.requests.push(input);
    await Promise.resolve();
    const { ExclusiveStartKey: start, Limit = Number.POSITIVE_INFINITY } = input;
    const matches = keyCondition(input);
    if (start !== undefined && !matches(start)) {
      throw new Error('The provided starting key is outside query boundaries based on provided conditions');
    }
    const direction = input.ScanIndexForward ? 1 : -1;
    const candidates = this.all()
      .filter(matches)
      .sort((a, b) => direction * this.compare(a, b))
      .filter((item) => start === undefined || direction * this.compare(item, start) > 0);
    const evaluated = candidates.slice(0, Math.min(Limit, this.options.pageItems ?? Limit));
    const last = evaluated.at(-1);
    const cutShort = evaluated.length < candidates.length || (this.options.falseLastKeys && evaluated.length === Limit);
    const filter = filterCondition(input);
    return {
      Items: evaluated.filter(filter).map((item) => projected(item, input)),
      ScannedCount: evaluated.length,
      ...(cutShort && last ? { LastEvaluatedKey: this.indexKey(last) } : {}),
      ConsumedCapacity: { CapacityUnits: 0.5 },
    };
  }

  /** The order within a partition: by sort key, then as the service happens to keep equal ones. */
  compare(a: Item, b: Item): number {
    for (const attribute of this.config.sortKeyAttributes) {
      const difference = compareAttributeValues(a[attribute]!, b[attribute]!);
      if (difference !== 0) return difference;
    }
    return hidden(this.tableKey(a)) < hidden(this.tableKey(b)) ? -1 : Number(this.tableKey(a) !== this.tableKey(b));
  }

  private tableKey(item: Item): string {
    return JSON.stringify(this.config.tableKey.map((attribute) => item[attribute]));
  }

  private indexKey(item: Item): Item {
    const { tableKey, sortKeyAttributes, shardAttribute, keyLayout, valueAttribute } = this.config;
    const value = keyLayout === 'multi-attribute' && valueAttribute !== undefined ? [valueAttribute] : [];
    const attributes = [...tableKey, ...sortKeyAttributes, shardAttribute, ...value];
    return Object.fromEntries(attributes.map((attribute) => [attribute, item[attribute]!]));
  }
}

function hidden(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

function projected(item: Item, { ProjectionExpression, ExpressionAttributeNames: names }: QueryInput): Item {
  if (ProjectionExpression === undefined) return item;
  const attributes = ProjectionExpression.split(', ').map((placeholder) => names[placeholder]);
  return Object.fromEntries(Object.entries(item).filter(([attribute]) => attributes.includes(attribute)));
}

/** Understands `#a = :a`, the comparisons, BETWEEN and begins_with, joined by AND. */
function keyCondition({ KeyConditionExpression, ...input }: QueryInput): (item: Item) => boolean {
  const [expression, between] = splitBetween(KeyConditionExpression);
  const conditions = [...expression.split(' AND '), ...between].map((text) => condition(text, input));
  return (item) => conditions.every((matches) => matches(item));
}

function filterCondition({ FilterExpression, ...input }: Omit<QueryInput, 'KeyConditionExpression'>) {
  return FilterExpression === undefined ? () => true : condition(FilterExpression, input);
}

function splitBetween(expression: string): [string, string[]] {
  const match = /^(.*) AND (\S+ BETWEEN \S+ AND \S+)$/.exec(expression);
  return match === null ? [expression, []] : [match[1]!, [match[2]!]];
}

function condition(
  text: string,
  {
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: values,
  }: Pick<QueryInput, 'ExpressionAttributeNames' | 'ExpressionAttributeValues'>,
): (item: Item) => boolean {
  const tokens = /^(?:begins_with\((\S+), (\S+)\)|(\S+) (\S+) (\S+)(?: AND (\S+))?)$/.exec(text);
  if (tokens === null) throw new Error(`the fake does not understand ${text}`);
  const [, prefixed, prefix, name, operator, first, second] = tokens;
  const attribute = names[(prefixed ?? name)!]!;
  const operand = values[(prefix ?? first)!] as SortableValue;
  const upper = values[second ?? ''] as SortableValue;
  const comparison = (value: AttributeValue, other: SortableValue): number => compareAttributeValues(value, other);
  return (item) => {
    const value = item[attribute];
    if (value === undefined) return false;
    if (prefixed !== undefined) return bytes(value).subarray(0, bytes(operand).length).equals(bytes(operand));
    switch (operator) {
      case '=':
        return comparison(value, operand) === 0;
      case '<':
        return comparison(value, operand) < 0;
      case '<=':
        return comparison(value, operand) <= 0;
      case '>':
        return comparison(value, operand) > 0;
      case '>=':
        return comparison(value, operand) >= 0;
      case 'BETWEEN': {
        if (comparison(operand, upper) > 0) throw new Error('The BETWEEN operator requires upper bound >= lower bound');
        return comparison(value, operand) >= 0 && comparison(value, upper) <= 0;
      }
      default:
        throw new Error(`the fake does not understand ${operator}`);
    }
  };
}

function bytes(value: AttributeValue): Buffer {
  return 'S' in value ? Buffer.from(value.S) : Buffer.from((value as { B: Uint8Array }).B);
}
