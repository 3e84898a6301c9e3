import type { ParkingItem, ParkingTableClient } from '../../../lib/core/consumer';
import { conditionHolds } from './condition';

type Key = ParkingItem;
type Write = Parameters<ParkingTableClient['updateItem']>[0] | Parameters<ParkingTableClient['putItem']>[0];

/**
 * A table that does what a `DynamoDbParkingStore` asks for, and nothing else: whatever expression it does not know, it refuses.
 * `test/integration/dynamodb-parking-store.test.ts` plays the same store on an emulator.
 */
export class ParkingTable {
  private readonly items = new Map<string, ParkingItem>();

  /** Every item. */
  get all(): ParkingItem[] {
    return [...this.items.values()];
  }

  getItem({ Key }: { Key: Key }) {
    return { Item: this.read(Key) };
  }

  batchGetItem({ RequestItems }: { RequestItems: Record<string, { Keys: Key[] }> }) {
    const Responses = Object.fromEntries(
      Object.entries(RequestItems).map(([table, { Keys }]) => [table, Keys.flatMap((key) => this.read(key) ?? [])]),
    );
    return { Responses };
  }

  query({ ExpressionAttributeValues: values }: { ExpressionAttributeValues: ParkingItem }) {
    const found = [...this.items.values()].filter(({ id }) => id.S === values[':id'].S);
    return { Items: found.sort((a, b) => (a.part.S < b.part.S ? -1 : 1)) };
  }

  putItem(input: { Item: ParkingItem } & Write): object {
    this.check(this.read(input.Item), input);
    this.items.set(nameOf(input.Item), input.Item);
    return {};
  }

  updateItem(input: { Key: Key; UpdateExpression: string } & Write): object {
    const before = this.read(input.Key);
    this.check(before, input);
    const item = { ...(before ?? input.Key) };
    const { ExpressionAttributeNames: names = {}, ExpressionAttributeValues: values = {} } = input;
    const [verb, ...rest] = input.UpdateExpression.split(' ');
    for (const change of rest.join(' ').split(', ')) {
      const [name, value] = change.split(' = ');
      if (verb === 'SET') item[names[name!]!] = values[value!];
      else if (verb === 'REMOVE') delete item[names[name!]!];
      else throw new Error(`this table does not know ${input.UpdateExpression}`);
    }
    this.items.set(nameOf(item), item);
    return { Attributes: item };
  }

  deleteItem(input: { Key: Key } & Write): object {
    this.check(this.read(input.Key), input);
    this.items.delete(nameOf(input.Key));
    return {};
  }

  private read(key: Key): ParkingItem | undefined {
    return this.items.get(nameOf(key));
  }

  private check(item: ParkingItem | undefined, write: Write): void {
    const holds = conditionHolds(write, item);
    if (!holds)
      throw Object.assign(new Error('the condition does not hold'), { name: 'ConditionalCheckFailedException' });
  }
}

function nameOf({ id, part }: Key): string {
  return JSON.stringify([id.S, part.S]);
}
