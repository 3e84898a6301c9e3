import type {
  AttributeValue,
  DynamoDB,
  TransactGetItemsCommandOutput,
  TransactWriteItem,
} from '@aws-sdk/client-dynamodb';
import { seededRandom } from '../../../lib/testing/seeded-random';
import { createKeyedTable } from '../keyed-table';

const FLAT = 'TransactedByHash';
const RANGED = 'TransactedByRange';
const IDS = ['a', 'b', 'c', 'd'];

/** The number of compared transactions for each outcome. */
type ComparedTransactions = Record<string, number>;

/** The accepted differences of the second service. See docs/models.md. */
export interface KnownOfTransactions {
  /** Whether the service checks conditions and the item before it checks whether two writes have the same item. */
  readonly conditionsFirst?: boolean;
  /** Whether the service returns no cancellation reasons if an update is invalid for its item. */
  readonly withoutReasonsOfItems?: boolean;
  /** Whether the service adds the key to the attributes of a projection. */
  readonly addsKeys?: boolean;
  /** Whether the service returns an empty item if an existing item has no attribute of the projection. */
  readonly emptyItems?: boolean;
}

/** Creates these tables in both services. */
export async function createTransactedTables(service: DynamoDB): Promise<void> {
  await createKeyedTable(service, FLAT, 'id');
  await createKeyedTable(service, RANGED, 'id', 'at');
}

/**
 * Sends the same random transactions to two services. Compares their responses, their cancellation reasons, and the
 * items at the end.
 *
 * @throws an error that names the first transaction with different responses
 */
export async function playTransactions(
  services: readonly [DynamoDB, DynamoDB],
  { calls, seed, known = {} }: { calls: number; seed: number; known?: KnownOfTransactions },
): Promise<ComparedTransactions> {
  const random = seededRandom(seed);
  const oneOf = <E>(choices: readonly E[]): E => choices[Math.floor(random() * choices.length)]!;
  const compared: ComparedTransactions = {};

  const keyOf = (TableName: string): Record<string, AttributeValue> => ({
    id: { S: oneOf(IDS) },
    ...(TableName === RANGED && { at: { S: oneOf(['1', '2']) } }),
  });
  const condition = (isNeeded: boolean): object => {
    if (!isNeeded && random() < 0.4) return {};
    const ReturnValuesOnConditionCheckFailure = oneOf(['ALL_OLD', 'NONE'] as const);
    const text = oneOf(['attribute_exists(id)', 'attribute_not_exists(id)', 'attribute_not_exists(n) OR n < :three']);
    const values = text.includes(':three') && { ExpressionAttributeValues: { ':three': { N: '3' } } };
    return { ConditionExpression: text, ReturnValuesOnConditionCheckFailure, ...values };
  };
  const update = (): { UpdateExpression: string; ExpressionAttributeValues: Record<string, AttributeValue> } =>
    oneOf<ReturnType<typeof update>>([
      { UpdateExpression: 'ADD n :one', ExpressionAttributeValues: { ':one': { N: '1' } } },
      { UpdateExpression: 'SET n = :one', ExpressionAttributeValues: { ':one': { N: '5' } } },
      // These updates fail if the item has no such list or number, or if the value has another type.
      { UpdateExpression: 'SET n = n + :one', ExpressionAttributeValues: { ':one': { N: '1' } } },
      { UpdateExpression: 'SET l = list_append(l, :l)', ExpressionAttributeValues: { ':l': { L: [{ S: 'x' }] } } },
      { UpdateExpression: 'ADD l :one', ExpressionAttributeValues: { ':one': { N: '1' } } },
    ]);
  const place = () => {
    const TableName = oneOf([FLAT, RANGED]);
    return { TableName, Key: keyOf(TableName) };
  };
  const action = ({ TableName, Key } = place()): TransactWriteItem => {
    const kind = oneOf(['Put', 'Put', 'Delete', 'Update', 'Update', 'ConditionCheck'] as const);
    if (kind === 'Update') {
      const { ExpressionAttributeValues: own, ...changes } = update();
      const { ExpressionAttributeValues: others, ...rest } = condition(false) as Partial<ReturnType<typeof update>>;
      return { Update: { TableName, Key, ...changes, ...rest, ExpressionAttributeValues: { ...own, ...others } } };
    }
    if (kind === 'Put') {
      const Item = {
        ...Key,
        ...oneOf<Record<string, AttributeValue>>([
          {},
          { n: { N: oneOf(['1', '4']) } },
          { n: { S: 'text' } },
          { l: { L: [] } },
        ]),
      };
      return { Put: { TableName, Item, ...condition(false) } };
    }
    if (kind === 'Delete') return { Delete: { TableName, Key, ...condition(false) } };
    return { ConditionCheck: { TableName, Key, ...condition(true) } as TransactWriteItem['ConditionCheck'] };
  };
  const wrong = (): TransactWriteItem =>
    oneOf<TransactWriteItem>([
      { Put: { TableName: 'NotThere', Item: { id: { S: 'a' } } } },
      { Put: { TableName: FLAT, Item: { n: { N: '1' } } } },
      { Delete: { TableName: RANGED, Key: { id: { S: 'a' } } } },
      { Delete: { TableName: FLAT, Key: { id: { S: 'a' } }, ConditionExpression: 'no expression' } },
    ]);
  const twice = (): TransactWriteItem[] => {
    const { TableName, Key } = place();
    if (known.conditionsFirst) return [{ Put: { TableName, Item: Key } }, { Delete: { TableName, Key } }];
    return [action({ TableName, Key }), action({ TableName, Key })];
  };
  const nextWrite = () => {
    const TransactItems = apart(Array.from({ length: 1 + Math.floor(random() * 4) }, () => action()));
    if (random() < 0.1) TransactItems.splice(0, 10, ...twice());
    // An invalid write is combined with a valid write, because the services check two invalid writes in different
    // orders.
    if (random() < 0.1) TransactItems.splice(0, 10, { Put: { TableName: FLAT, Item: { id: { S: 'e' } } } }, wrong());
    return { TransactItems, ClientRequestToken: `${seed}-${Math.floor(random() * 1e6)}` };
  };
  const nextRead = () => {
    const TransactItems = Array.from({ length: 1 + Math.floor(random() * 3) }, () => {
      const some = random() < 0.3 && { ProjectionExpression: known.addsKeys ? 'missing' : 'n' };
      return { Get: { ...place(), ...some } };
    });
    if (random() < 0.1) TransactItems.push({ Get: { TableName: RANGED, Key: { id: { S: 'a' } } } });
    return { TransactItems: random() < 0.2 ? TransactItems : apart(TransactItems) };
  };
  /**
   * Sometimes repeats the previous transaction, or sends another transaction with the token of the previous
   * transaction.
   */
  const nextOrAgain = (before: ReturnType<typeof nextWrite>) => {
    if (random() > 0.1) return nextWrite();
    return random() < 0.5 ? before : { ...before, TransactItems: apart([...before.TransactItems, action()]) };
  };

  let write = nextWrite();
  for (let call = 0; call < calls; call++) {
    const isRead = random() < 0.2;
    const read = nextRead();
    if (!isRead) write = nextOrAgain(write);
    const input = isRead ? read : write;
    const ask = (service: DynamoDB) =>
      outcomeOf(() => (isRead ? service.transactGetItems(read) : service.transactWriteItems(write)), known);
    const [left, right] = [await ask(services[0]), await ask(services[1])];
    const name = `${isRead ? 'get' : 'write'} ${Object(left).name ?? 'done'}`;
    compared[name] = (compared[name] ?? 0) + 1;
    same([left, right], { call, input });
    if (call % 10 !== 0) continue;
    for (const TableName of [FLAT, RANGED]) {
      same([await contentOf(services[0], TableName), await contentOf(services[1], TableName)], { call, input });
    }
  }
  return compared;
}

/** The responses of a service to transactions at the limits of DynamoDB, and to a repeated transaction. */
export async function transactionsAtLimits(service: DynamoDB): Promise<unknown[]> {
  const put = (id: string, length: number) => ({
    Put: { TableName: FLAT, Item: { id: { S: id }, x: { S: 'x'.repeat(length) } } },
  });
  const large = (count: number) => Array.from({ length: count }, (_, index) => put(`large-${index}`, 399_000));
  const repeated = { ClientRequestToken: 'repeated', ReturnConsumedCapacity: 'TOTAL' as const };
  const x = { S: 'x'.repeat(5_000) };
  const inOtherOrder = { Put: { Item: { x, id: { S: 'large' } }, TableName: FLAT } };
  const asked = [
    { TransactItems: large(11) },
    { TransactItems: large(10) },
    { ...repeated, TransactItems: [put('large', 5_000), put('small', 1)] },
    { ...repeated, TransactItems: [inOtherOrder, put('small', 1)] },
    { ...repeated, TransactItems: [put('large', 5_001), put('small', 1)] },
    { ClientRequestToken: 'x'.repeat(36), TransactItems: [put('token', 1)] },
    { ClientRequestToken: 'x'.repeat(37), TransactItems: [put('token', 2)] },
  ];
  const outcomes: unknown[] = [];
  for (const input of asked) {
    const outcome = await service.transactWriteItems(input).then(
      ({ ConsumedCapacity }) => ConsumedCapacity?.map(({ CapacityUnits }) => CapacityUnits) ?? 'done',
      ({ name }: Error) => name,
    );
    outcomes.push(outcome);
  }
  return outcomes;
}

/** Keeps only the last entry for each item, because a transaction may contain an item only once. */
function apart<T extends object>(items: readonly T[]): T[] {
  const nameOf = (item: T): string => {
    const { TableName, Key, Item } = Object.values(item)[0];
    const { id, at } = Key ?? Item;
    return JSON.stringify([TableName, id, at]);
  };
  return [...new Map(items.map((item) => [nameOf(item), item])).values()];
}

async function outcomeOf(ask: () => Promise<object>, known: KnownOfTransactions): Promise<unknown> {
  try {
    const { $metadata: _, ...answer } = (await ask()) as TransactGetItemsCommandOutput;
    const isEmpty = (item: object | undefined) => item !== undefined && Object.keys(item).length === 0;
    if (!known.emptyItems) return answer;
    return { ...answer, Responses: answer.Responses?.map(({ Item }) => (isEmpty(Item) ? {} : { Item })) };
  } catch (error) {
    const { name, CancellationReasons: reasons } = error as {
      name: string;
      CancellationReasons?: { Code: string; Item?: object }[];
    };
    const isOfItem = reasons === undefined || reasons.some(({ Code }) => Code === 'ValidationError');
    if (known.withoutReasonsOfItems && name === 'TransactionCanceledException' && isOfItem) {
      return { name: 'ValidationException' };
    }
    return { name, reasons: reasons?.map(({ Code, Item }) => ({ Code, Item })) };
  }
}

async function contentOf(service: DynamoDB, TableName: string): Promise<string[]> {
  const { Items = [] } = await service.scan({ TableName, ConsistentRead: true });
  return Items.map((item) => JSON.stringify(Object.entries(item).sort())).sort();
}

function same([left, right]: [unknown, unknown], what: object): void {
  const texts = [left, right].map((each) => JSON.stringify(each, inOrder));
  if (texts[0] !== texts[1]) throw new Error(`${JSON.stringify(what)}: ${texts.join(' instead of ')}`);
}

function inOrder(_: string, value: unknown): unknown {
  if (Object(value) !== value || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value as object).sort(([a], [b]) => (a < b ? -1 : 1)));
}
