import { createHash } from 'node:crypto';
import type {
  DynamoDbItem,
  ItemMoveInput,
  ItemMoveOutput,
  ItemReadInput,
  ItemReadOutput,
  ItemReshardClient,
  ItemTransferClient,
  ItemTransferInput,
  ItemTransferOutput,
  TableScanInput,
  TableScanOutput,
  TransferCondition,
} from '../../../lib/core';
import { itemBytes } from '../../../lib/core/sharded-index/query/item-bytes';
import { serviceError } from '../../../lib/testing/service-error';
import { conditionHolds } from './condition';
import { storedItem } from './stored-item';

const HASH_SPACE = 2 ** 32;

/** The update expressions of the library: attributes to set, attributes to remove, or both. */
const UPDATE = /^(?:SET ((?:#\w+ = :\w+(?:, )?)+))? ?(?:REMOVE ((?:#\w+(?:, )?)+))?$/;

/**
 * A table in memory with the behaviour of DynamoDB for segmented scans, conditional updates and transactions. The
 * items are in the order of a hash of their key. A segment is a part of the hash space. A start key of a scan may
 * belong to a deleted item.
 */
export class FakeTable implements ItemReshardClient, ItemTransferClient {
  readonly items = new Map<string, DynamoDbItem>();
  readonly updates: ItemMoveInput[] = [];
  readonly transactions: ItemTransferInput[] = [];
  readonly scans: TableScanInput[] = [];

  constructor(
    private readonly tableKey: readonly string[],
    private readonly pageItems = Number.POSITIVE_INFINITY,
  ) {}

  put(item: DynamoDbItem): void {
    this.items.set(this.keyOf(item), storedItem(item));
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
    if (!conditionHolds(input, item)) {
      throw serviceError('ConditionalCheckFailedException', 'The conditional request failed');
    }
    const [, set = '', remove = ''] = UPDATE.exec(input.UpdateExpression)!;
    const changed: DynamoDbItem = { ...(item ?? input.Key) };
    for (const [, name, value] of set.matchAll(/(#\w+) = (:\w+)/g)) {
      changed[input.ExpressionAttributeNames[name!]!] = input.ExpressionAttributeValues![value!];
    }
    for (const [name] of remove.matchAll(/#\w+/g)) delete changed[input.ExpressionAttributeNames[name]!];
    this.put(changed);
    return { ConsumedCapacity: { CapacityUnits: 3 } };
  }

  async transactWriteItems(input: ItemTransferInput): Promise<ItemTransferOutput> {
    this.transactions.push(input);
    this.transact(input.TransactItems);
    return { ConsumedCapacity: [{ CapacityUnits: 2 * input.TransactItems.length }] };
  }

  /** Applies all writes or none of them. */
  transact(writes: readonly FakeWrite[]): void {
    const keys = writes.map((write) => {
      const { Key, Item } = Object.values(write)[0]!;
      return this.keyOf((Key ?? Item)!);
    });
    if (new Set(keys).size < keys.length) {
      throw serviceError('ValidationException', 'Transaction request cannot include multiple operations on one item');
    }
    const CancellationReasons = writes.map((write) => {
      const { Key, Item, ...condition } = Object.values(write)[0]!;
      return { Code: conditionHolds(condition, this.read((Key ?? Item)!)) ? 'None' : 'ConditionalCheckFailed' };
    });
    if (CancellationReasons.some(({ Code }) => Code !== 'None')) {
      const codes = CancellationReasons.map(({ Code }) => Code).join(', ');
      const message = `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`;
      throw Object.assign(new Error(message), { name: 'TransactionCanceledException', CancellationReasons });
    }
    for (const { Put, Delete } of writes) {
      if (Put !== undefined) this.put(Put.Item!);
      if (Delete !== undefined) this.delete(Delete.Key!);
    }
  }

  private keyAttributes(item: DynamoDbItem): DynamoDbItem {
    return Object.fromEntries(this.tableKey.map((name) => [name, item[name]!]));
  }

  private keyOf(item: DynamoDbItem): string {
    const key = storedItem(this.keyAttributes(item));
    return JSON.stringify(this.tableKey.map((name) => key[name]));
  }
}

/** One write of a transaction. The name of the property is the kind of the write. */
export type FakeWrite = Partial<
  Record<'Put' | 'Delete' | 'ConditionCheck', { Key?: DynamoDbItem; Item?: DynamoDbItem } & Partial<TransferCondition>>
>;

/** The text that an update gives the shard attribute. Undefined if the update sets no text. */
export function movedTo({ UpdateExpression, ExpressionAttributeValues }: ItemMoveInput): string | undefined {
  const [, placeholder = ''] = /^SET #\w+ = (:\w+)$/.exec(UpdateExpression) ?? [];
  return ExpressionAttributeValues?.[placeholder]?.S;
}

function project(
  item: DynamoDbItem,
  { ProjectionExpression, ExpressionAttributeNames }: TableScanInput | ItemReadInput,
): DynamoDbItem {
  if (ProjectionExpression === undefined) return item;
  const names = ProjectionExpression.split(', ').map((placeholder) => ExpressionAttributeNames![placeholder]!);
  return Object.fromEntries(names.filter((name) => item[name] !== undefined).map((name) => [name, item[name]!]));
}

function placeOf(key: string): number {
  return createHash('md5').update(key).digest().readUInt32BE();
}

function segmentOf(place: number, totalSegments: number): number {
  return Math.floor((place / HASH_SPACE) * totalSegments);
}
