import type { ParkingItem, ParkingTableClient } from '../../../lib/core/consumer';
import { conditionHolds, refuseLongExpressions } from './condition';

/** The client methods that `DynamoDbParkingStore` uses. */
export const PARKING_METHODS = [
  'getItem',
  'batchGetItem',
  'query',
  'putItem',
  'updateItem',
  'deleteItem',
  'transactWriteItems',
] as const;

type Key = ParkingItem;
type Write = Parameters<ParkingTableClient['updateItem']>[0] | Parameters<ParkingTableClient['putItem']>[0];

/**
 * A table in memory for `DynamoDbParkingStore`, and for the stores of owners and of shard counts. The table rejects every
 * expression that the stores do not use. `test/integration/dynamodb-parking-store.test.ts` tests the same store with an emulator.
 */
export class ParkingTable {
  private readonly items = new Map<string, ParkingItem>();

  constructor(private readonly keyNames: readonly [string, string?] = ['id', 'part']) {}

  /** A client of the table. `answers` replaces methods. */
  client(answers: Partial<ParkingTableClient> = {}): ParkingTableClient {
    const calls = PARKING_METHODS.map((method) => [method, async (input: never) => this[method](input)]);
    return { ...Object.fromEntries(calls), ...answers };
  }

  /** All items. */
  get all(): ParkingItem[] {
    return [...this.items.values()];
  }

  getItem({ Key }: { Key: Key }) {
    const item = this.read(Key);
    return { Item: item && { ...item } };
  }

  batchGetItem({ RequestItems }: { RequestItems: Record<string, { Keys: Key[] }> }) {
    const Responses = Object.fromEntries(
      Object.entries(RequestItems).map(([table, { Keys }]) => [
        table,
        Keys.flatMap((key) => this.read(key) ?? []).map((item) => ({ ...item })),
      ]),
    );
    return { Responses };
  }

  query(input: Parameters<ParkingTableClient['query']>[0]) {
    refuseLongExpressions(input);
    const { ExclusiveStartKey: start, Limit = Number.POSITIVE_INFINITY } = input;
    const { KeyConditionExpression, ExpressionAttributeNames: names, ExpressionAttributeValues: values } = input;
    const sortKey = (item: ParkingItem): string => item[this.keyNames[1]!].S;
    const terms = KeyConditionExpression.split(' AND ').map((term) => {
      const [name, operator, value] = term.split(' ');
      const { S: wanted } = values[value!];
      return (item: ParkingItem) =>
        operator === '>=' ? item[names[name!]!].S >= wanted : item[names[name!]!].S === wanted;
    });
    const rest = this.all
      .filter((item) => terms.every((holds) => holds(item)))
      .sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1))
      .filter((item) => start === undefined || sortKey(item) > sortKey(start));
    const Items = rest.slice(0, Limit).map((item) => ({ ...item }));
    return { Items, ...(Items.length === Limit && { LastEvaluatedKey: Items.at(-1) }) };
  }

  scan() {
    return { Items: this.all.map((item) => ({ ...item })) };
  }

  putItem(input: { Item: ParkingItem } & Write): object {
    this.check(this.read(input.Item), input);
    this.put(input.Item);
    return {};
  }

  updateItem(input: { Key: Key; UpdateExpression: string; ReturnValues?: string } & Write): object {
    const before = this.read(input.Key);
    this.check(before, input);
    // A copy of an item with the marks of thousands of keys would take most of the time of a test.
    const item = before ?? { ...input.Key };
    const { ExpressionAttributeNames: names = {}, ExpressionAttributeValues: values = {} } = input;
    for (const clause of input.UpdateExpression.split(/ (?=ADD |DELETE |REMOVE )/)) {
      const [, verb, changes] = /^(SET|ADD|DELETE|REMOVE) (.+)$/.exec(clause) ?? [];
      if (verb === undefined) throw new Error(`the fake does not support ${input.UpdateExpression}`);
      for (const change of changes!.split(', ')) {
        const [name, value] = change.split(/ = | /);
        changeAttribute(item, verb, names[name!]!, value && values[value]);
      }
    }
    this.items.set(this.nameOf(item), item);
    return input.ReturnValues === undefined ? {} : { Attributes: { ...item } };
  }

  deleteItem(input: { Key: Key } & Write): object {
    this.check(this.read(input.Key), input);
    this.items.delete(this.nameOf(input.Key));
    return {};
  }

  /** Applies all writes or none of them. */
  transactWriteItems({ TransactItems }: Parameters<ParkingTableClient['transactWriteItems']>[0]): object {
    const inputs = TransactItems.map(({ Put, Update }) => ({ key: Put?.Item ?? Update!.Key, ...(Put ?? Update)! }));
    const CancellationReasons = inputs.map((input) => {
      refuseLongExpressions(input);
      return { Code: conditionHolds(input, this.read(input.key)) ? 'None' : 'ConditionalCheckFailed' };
    });
    if (CancellationReasons.some(({ Code }) => Code !== 'None')) {
      throw Object.assign(new Error('cancelled'), { name: 'TransactionCanceledException', CancellationReasons });
    }
    for (const { Put, Update } of TransactItems) {
      if (Put) this.putItem(Put);
      if (Update) this.updateItem(Update);
    }
    return {};
  }

  /** Stores an item without a condition. */
  put(item: ParkingItem): void {
    this.items.set(this.nameOf(item), { ...item });
  }

  private nameOf(key: Key): string {
    return JSON.stringify(this.keyNames.map((name) => name && key[name].S));
  }

  private read(key: Key): ParkingItem | undefined {
    return this.items.get(this.nameOf(key));
  }

  private check(item: ParkingItem | undefined, write: Write): void {
    refuseLongExpressions(write);
    const isMet = conditionHolds(write, item);
    if (!isMet) throw Object.assign(new Error('the condition is not met'), { name: 'ConditionalCheckFailedException' });
  }
}

function changeAttribute(item: ParkingItem, verb: string, name: string, value: ParkingItem[string]): void {
  if (verb === 'SET') item[name] = value;
  else if (verb === 'REMOVE') delete item[name];
  else if (value.N !== undefined) item[name] = { N: String(Number(item[name]?.N ?? 0) + Number(value.N)) };
  else {
    const before: string[] = item[name]?.SS ?? [];
    const kept = before.filter((text) => !value.SS.includes(text));
    const SS = verb === 'ADD' ? [...kept, ...value.SS].sort() : kept;
    if (SS.length > 0) item[name] = { SS };
    else delete item[name];
  }
}
