import type { DynamoDB } from '@aws-sdk/client-dynamodb';
import type { AttributeValue, DynamoDbItem } from '../../../lib/core';
import { seededRandom } from '../../../lib/testing/seeded-random';
import { FakeTable } from '../fakes/fake-table';
import { storedItem } from '../fakes/stored-item';
import { createKeyedTable } from '../keyed-table';
import { endPlay, expectSame, type OnDifference } from './differences';
import type { Compared } from './index-answers';

const KEY = ['id'];
const IDS = 12;

/** Values that DynamoDB treats as equal, and values that DynamoDB treats as different. */
const VALUES: AttributeValue[] = [
  { N: '1' },
  { N: '1.0' },
  { N: '100' },
  { N: '1e2' },
  { S: '1' },
  { S: 'a' },
  { SS: ['a', 'b'] },
  { SS: ['b', 'a'] },
  { NULL: true },
  { BOOL: false },
  { L: [{ N: '1' }] },
  { M: { x: { N: '1' } } },
];

interface TablePlay {
  calls: number;
  seed: number;
  /** Whether the service supports transactions. */
  transactional: boolean;
  /**
   * Whether the service stores a number of an update as the request writes it, as DynamoDB Local does. @default false
   */
  keepsNotation?: boolean;
  tableName?: string;
  /** Whether the table already exists and is empty. @default the test creates the table */
  isThere?: boolean;
  /** Called for each difference. @default the first difference ends the test */
  onDifference?: OnDifference;
}

const LOOK_EVERY = 5;

/** A fake table and a service that receive the same calls. */
interface Pair {
  fake: FakeTable;
  service: DynamoDB;
}

type Outcome = { answer: unknown } | { refusal: string; reasons?: unknown };

/**
 * Sends random conditional updates, transactions, reads and scans to the fake table and to a service. Compares each
 * response, each error with its cancellation reasons, and the items at the end.
 *
 * @throws an error that names the first call with different responses, unless `onDifference` is set. With
 *   `onDifference`, the fake receives the items of the service, and the test continues.
 */
export async function playTableAnswers(service: DynamoDB, play: TablePlay): Promise<Compared> {
  const { calls, seed, transactional, keepsNotation = false, onDifference = endPlay } = play;
  const { tableName: TableName = 'Written', isThere = false } = play;
  const compared: Compared = {};
  const random = seededRandom(seed);
  const below = (bound: number): number => Math.floor(random() * bound);
  const oneOf = <E>(choices: readonly E[]): E => choices[below(choices.length)]!;
  const pair: Pair = { fake: new FakeTable(KEY), service };
  const idOf = (number: number): DynamoDbItem => ({ id: { S: `item-${number}` } });
  const attributes = (): DynamoDbItem =>
    Object.fromEntries(['a', 'b'].flatMap((name) => (random() < 0.7 ? [[name, oneOf(VALUES)]] : [])));

  /** Returns no condition, or a condition with up to three terms that the library uses. */
  const condition = (): object => {
    const names: Record<string, string> = {};
    const values: Record<string, AttributeValue> = {};
    const terms = Array.from({ length: below(4) }, (_, index) => {
      names[`#c${index}`] = oneOf(['id', 'a', 'b']);
      const kind = below(4);
      if (kind < 2) return `attribute_${kind === 0 ? '' : 'not_'}exists(#c${index})`;
      values[`:c${index}`] = names[`#c${index}`] === 'id' ? { S: `item-${below(IDS)}` } : oneOf(VALUES);
      return `#c${index} = :c${index}`;
    });
    return {
      ...(terms.length > 0 && { ConditionExpression: terms.join(' AND '), ExpressionAttributeNames: names }),
      ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
    };
  };

  const calledBy = {
    updateItem: () => {
      const { ExpressionAttributeNames, ExpressionAttributeValues, ...rest } = condition() as Record<string, object>;
      const isSet = random() < 0.6;
      return {
        ...{ TableName, Key: idOf(below(IDS)), ...rest },
        UpdateExpression: isSet ? 'SET #u = :u' : 'REMOVE #u',
        ExpressionAttributeNames: { ...ExpressionAttributeNames, '#u': oneOf(['a', 'b']) },
        ...((isSet || ExpressionAttributeValues) && {
          ExpressionAttributeValues: { ...ExpressionAttributeValues, ...(isSet && { ':u': oneOf(VALUES) }) },
        }),
        ReturnConsumedCapacity: 'TOTAL',
      };
    },
    transactWriteItems: () => {
      const numbers = [below(IDS), below(IDS), below(IDS)].slice(0, 1 + below(3));
      // AWS rejects a second write of an item before it checks conditions. DynamoDB Local checks conditions first.
      const isTwice = new Set(numbers).size < numbers.length;
      const maybe = () => (isTwice ? {} : condition());
      return {
        TransactItems: numbers.map((number) => {
          const key = idOf(number);
          const kind = below(isTwice ? 2 : 3);
          if (kind === 0) return { Put: { TableName, Item: { ...key, ...attributes() }, ...maybe() } };
          if (kind === 1) return { Delete: { TableName, Key: key, ...maybe() } };
          return { ConditionCheck: { TableName, Key: key, ...EXISTS, ...maybe() } };
        }),
      };
    },
    getItem: () => ({
      ...{ TableName, Key: idOf(below(IDS)), ConsistentRead: true },
      ...(random() < 0.5 && { ProjectionExpression: '#p', ExpressionAttributeNames: { '#p': oneOf(['a', 'b']) } }),
    }),
  };

  if (!isThere) await createKeyedTable(service, TableName, 'id');
  for (let number = 0; number < IDS; number += 2) {
    const Item = { ...idOf(number), ...attributes() };
    await service.putItem({ TableName, Item });
    pair.fake.put(Item);
  }
  const names = Object.keys(calledBy).filter((name) => transactional || name !== 'transactWriteItems');
  for (let call = 0; call < calls; call++) {
    const name = oneOf(names) as keyof typeof calledBy;
    const input = calledBy[name]() as never;
    const ask = (client: object) =>
      outcome(() => (client as Record<string, (input: never) => Promise<unknown>>)[name]!(input));
    const [got, expected] = [await ask(pair.fake), await ask(service)];
    const kind = 'refusal' in got ? `${name} ${got.refusal}` : name;
    compared[kind] = (compared[kind] ?? 0) + 1;
    const agree = expectSame(plain(got, keepsNotation), plain(expected, keepsNotation), { name, input }, onDifference);
    if (agree && call % LOOK_EVERY !== 0) continue;
    const [left, right] = [
      await scanAll(pair.fake, TableName, oneOf([1, 3])),
      await scanAll(service, TableName, oneOf([1, 3])),
    ];
    if (
      expectSame(
        inOrder(left),
        inOrder(keepsNotation ? right.map(storedItem) : right),
        { after: name, input },
        onDifference,
      )
    ) {
      continue;
    }
    pair.fake.items.clear();
    for (const item of right) pair.fake.put(item);
  }
  return compared;
}

const EXISTS = { ConditionExpression: 'attribute_exists(#id)', ExpressionAttributeNames: { '#id': 'id' } };

async function outcome(call: () => Promise<unknown>): Promise<Outcome> {
  try {
    return { answer: await call() };
  } catch (error) {
    const { name, CancellationReasons: reasons } = error as Error & { CancellationReasons?: { Code: string }[] };
    return { refusal: name, ...(reasons && { reasons: reasons.map(({ Code }) => Code) }) };
  }
}

/** The fields of a response that the library reads. Units are not compared. */
function plain(outcome: Outcome, keepsNotation: boolean): unknown {
  if ('refusal' in outcome) return outcome;
  const { Item } = outcome.answer as { Item?: DynamoDbItem };
  return { item: Item && normal(keepsNotation ? storedItem(Item) : Item) };
}

/** All items of the table, from all segments and pages. */
async function scanAll(
  client: Pick<FakeTable, 'scan'> | DynamoDB,
  TableName: string,
  TotalSegments: number,
): Promise<DynamoDbItem[]> {
  const items: DynamoDbItem[] = [];
  for (let Segment = 0; Segment < TotalSegments; Segment++) {
    let ExclusiveStartKey: DynamoDbItem | undefined;
    do {
      const input = {
        TableName,
        Segment,
        TotalSegments,
        Limit: 5,
        ConsistentRead: true,
        ...(ExclusiveStartKey && { ExclusiveStartKey }),
      };
      const page = await (client as DynamoDB).scan(input);
      items.push(...((page.Items ?? []) as DynamoDbItem[]));
      ExclusiveStartKey = page.LastEvaluatedKey as DynamoDbItem | undefined;
    } while (ExclusiveStartKey !== undefined);
  }
  return items;
}

/** Sorts items, because each service has its own scan order. */
function inOrder(items: DynamoDbItem[]): DynamoDbItem[] {
  return items.map(normal).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

function normal(item: DynamoDbItem): DynamoDbItem {
  return Object.fromEntries(
    Object.entries(item)
      .map(([name, value]) => [name, 'SS' in value ? { SS: [...value.SS].sort() } : value])
      .sort(([a], [b]) => (a! < b! ? -1 : 1)),
  );
}
