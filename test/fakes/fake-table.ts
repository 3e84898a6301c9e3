import { createHash } from 'node:crypto';
import type {
  DynamoDbItem,
  ItemMoveInput,
  ItemMoveOutput,
  ItemReadInput,
  ItemReadOutput,
  ItemReshardClient,
  TableScanInput,
  TableScanOutput,
} from '../../lib/core';
import { itemBytes } from '../../lib/core/sharded-index/item-bytes';

const HASH_SPACE = 2 ** 32;

/**
 * A table in memory with DynamoDB's semantics, as far as a scan by segments and conditional updates go: items stand in the
 * order of a hash of their key, a segment is a part of the hash space, and a start key need not exist any more.
 */
export class FakeTable implements ItemReshardClient {
  readonly items = new Map<string, DynamoDbItem>();
  readonly updates: ItemMoveInput[] = [];
  readonly scans: TableScanInput[] = [];

  constructor(
    private readonly tableKey: readonly string[],
    private readonly pageItems = Number.POSITIVE_INFINITY,
  ) {}

  put(item: DynamoDbItem): void {
    this.items.set(this.keyOf(item), item);
  }

  delete(key: DynamoDbItem): void {
    this.items.delete(this.keyOf(key));
  }

  read(key: DynamoDbItem): DynamoDbItem | undefined {
    return this.items.get(this.keyOf(key));
  }

  async scan(input: TableScanInput): Promise<TableScanOutput> {
    this.scans.push(input);
    const { Segment, TotalSegments, ExclusiveStartKey, Limit = Number.POSITIVE_INFINITY } = input;
    const start = ExclusiveStartKey === undefined ? undefined : placeOf(this.keyOf(ExclusiveStartKey));
    const left = [...this.items]
      .map(([key, item]) => ({ place: placeOf(key), item }))
      .filter(({ place }) => segmentOf(place, TotalSegments) === Segment && (start === undefined || place > start))
      .sort((a, b) => (a.place < b.place ? -1 : 1));
    const page = left.slice(0, Math.min(Limit, this.pageItems));
    const bytes = page.reduce((sum, { item }) => sum + itemBytes(item), 0);
    return {
      Items: page.map(({ item }) => project(item, input)),
      ConsumedCapacity: { CapacityUnits: Math.max(1, Math.ceil(bytes / 4_096)) * (input.ConsistentRead ? 1 : 0.5) },
      ...(page.length < left.length && { LastEvaluatedKey: this.keyAttributes(page.at(-1)!.item) }),
    };
  }

  async getItem(input: ItemReadInput): Promise<ItemReadOutput> {
    const item = this.read(input.Key);
    return { ...(item && { Item: project(item, input) }), ConsumedCapacity: { CapacityUnits: 1 } };
  }

  async updateItem(input: ItemMoveInput): Promise<ItemMoveOutput> {
    this.updates.push(input);
    const item = this.read(input.Key);
    for (const condition of input.ConditionExpression.split(' AND ')) {
      if (!holds(condition, input, item ?? {})) {
        throw Object.assign(new Error('The conditional request failed'), { name: 'ConditionalCheckFailedException' });
      }
    }
    const [, verb, name, value] = /^(SET|REMOVE) (#\w+)(?: = (:\w+))?$/.exec(input.UpdateExpression)!;
    const attribute = input.ExpressionAttributeNames[name!]!;
    const { [attribute]: _, ...rest } = item!;
    this.put(verb === 'SET' ? { ...rest, [attribute]: input.ExpressionAttributeValues![value!] } : rest);
    return { ConsumedCapacity: { CapacityUnits: 3 } };
  }

  private keyAttributes(item: DynamoDbItem): DynamoDbItem {
    return Object.fromEntries(this.tableKey.map((name) => [name, item[name]!]));
  }

  private keyOf(item: DynamoDbItem): string {
    return JSON.stringify(this.tableKey.map((name) => item[name]));
  }
}

function holds(
  condition: string,
  { ExpressionAttributeNames, ExpressionAttributeValues }: ItemMoveInput,
  item: object,
) {
  const [, negated, exists] = /^attribute_(not_)?exists\((#\w+)\)$/.exec(condition) ?? [];
  if (exists !== undefined) {
    return Object.hasOwn(item, ExpressionAttributeNames[exists]!) === (negated === undefined);
  }
  const [name, value] = condition.split(' = ');
  const attribute = (item as DynamoDbItem)[ExpressionAttributeNames[name!]!];
  return JSON.stringify(attribute) === JSON.stringify(ExpressionAttributeValues![value!]);
}

function project(
  item: DynamoDbItem,
  { ProjectionExpression, ExpressionAttributeNames }: TableScanInput | ItemReadInput,
): DynamoDbItem {
  const names = ProjectionExpression.split(', ').map((placeholder) => ExpressionAttributeNames[placeholder]!);
  return Object.fromEntries(names.filter((name) => item[name] !== undefined).map((name) => [name, item[name]!]));
}

function placeOf(key: string): number {
  return createHash('md5').update(key).digest().readUInt32BE();
}

function segmentOf(place: number, totalSegments: number): number {
  return Math.floor((place / HASH_SPACE) * totalSegments);
}
