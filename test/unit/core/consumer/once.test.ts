import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import {
  type Clock,
  DynamoDbParkingStore,
  MemoryParkingStore,
  type Once,
  OrderedConsumer,
  type OrderedConsumerOptions,
  RecordDoneError,
} from '../../../../lib/core/consumer';
import { allOf } from '../../../support/all-of';
import { ParkingTable } from '../../../support/fakes/parking-table';
import { kinesisEvent, shardOf, textOf } from '../../../support/fakes/stream-events';

beforeEach(() => {
  jest.spyOn(console, 'log').mockImplementation(() => {});
});
afterEach(() => {
  jest.restoreAllMocks();
  jest.useRealTimers();
});

type Item = Record<string, unknown>;
interface Write {
  Put?: { TableName: string; Item: Item };
  Update?: { Key: Item; ExpressionAttributeValues: Item };
}
const put = (id: string): Write => ({ Put: { TableName: 'Orders', Item: { id: { S: id } } } });
const stored = (value: unknown) => JSON.parse(JSON.stringify(value));

/** The behaviour of DynamoDB transactions that `once` needs. */
class Transactions {
  readonly effects: string[] = [];
  private readonly numbers = new Map<string, { key: Item; number: string }>();
  private readonly requests = new Map<string, string>();

  async write(TransactItems: readonly Write[], token?: string): Promise<void> {
    const request = JSON.stringify(TransactItems);
    const before = token === undefined ? undefined : this.requests.get(token);
    if (before === request) return;
    if (before !== undefined) throw Object.assign(new Error(), { name: 'IdempotentParameterMismatchException' });
    const reasons = TransactItems.map(({ Update }) => {
      if (Update === undefined) return { Code: 'None' };
      const { key, number } = this.numbers.get(JSON.stringify(Update.Key)) ?? {};
      const isDone = number !== undefined && number >= stored(Update.ExpressionAttributeValues)[':number'].S;
      return isDone ? { Code: 'ConditionalCheckFailed', Item: { ...key, number: { S: number } } } : { Code: 'None' };
    });
    if (reasons.some(({ Code }) => Code !== 'None')) throw cancelled(...reasons);
    for (const { Put, Update } of TransactItems) {
      if (Put !== undefined) this.effects.push((Put.Item.id as { S: string }).S);
      if (Update === undefined) continue;
      const number = stored(Update.ExpressionAttributeValues)[':number'].S;
      this.numbers.set(JSON.stringify(Update.Key), { key: stored(Update.Key), number });
    }
    if (token !== undefined) this.requests.set(token, request);
  }
}

function cancelled(...CancellationReasons: unknown[]): Error {
  return Object.assign(new Error('cancelled'), { name: 'TransactionCanceledException', CancellationReasons });
}

type Handle = (text: string, once: Once, attempt: number) => Promise<unknown> | unknown;

/** A clock with which retries have no delay, and attempts have no time limit. */
const impatientClock: Clock = {
  now: () => 0,
  sleep: async () => {},
  schedule: (callback, ms) => {
    if (ms < 5_000) setImmediate(callback);
    return () => {};
  },
};

/** Delivers the records to a consumer in a new process. Returns the errors of the handler and the parked keys. */
async function deliver(
  handle: Handle,
  { texts = ['a1'], ...options }: Partial<OrderedConsumerOptions> & { texts?: string[] } = {},
) {
  const table = new ParkingTable();
  const parking = new DynamoDbParkingStore(table as never, { tableName: 'Parked', consumer: 'c' });
  const errors: unknown[] = [];
  const consumer = new OrderedConsumer(
    (record, { once, attempt }) => handle(textOf(record), once, attempt) as Promise<void>,
    {
      ...{ parking, attempts: 2, clock: impatientClock, onFailure: ({ error }) => errors.push(error) },
      ...options,
    },
  );
  await consumer.handler(kinesisEvent(shardOf(texts)), { getRemainingTimeInMillis: () => 60_000 });
  return { errors, parked: await allOf(parking.parked()), parking, consumer };
}

describe('once in a DynamoDB transaction', () => {
  test.each([
    ['start', (once: Once, item: Write) => once([item])],
    ['end', (once: Once, item: Write) => [item, ...once<Write>([])]],
    ['middle', (once: Once, item: Write) => [item, ...once<Write>([]), put('another')]],
  ])(
    'treats a record that has already taken effect as done, with the item of once at the %s of the transaction',
    async (_, itemsOf) => {
      const transactions = new Transactions();
      const handle: Handle = (text, once) => transactions.write(itemsOf(once, put(text)));
      await deliver(handle);
      const effects = [...transactions.effects];
      expect(await deliver(handle)).toMatchObject({ errors: [], parked: [] });
      expect(transactions.effects).toEqual(effects);
    },
  );

  test('parks the record if a condition of the caller has failed, whatever attributes the stored item has', async () => {
    const done = { isDone: { BOOL: true }, number: { S: '999' } };
    for (const Item of [
      done,
      { ...done, id: { S: 'task' } },
      { ...done, id: { S: 'task' }, part: { S: 'task' } },
      undefined,
      null,
    ]) {
      const { parked } = await deliver((text, once) => {
        once([put(text)]);
        throw cancelled({ Code: 'ConditionalCheckFailed', Item }, { Code: 'None' });
      });
      expect(parked).toHaveLength(1);
    }
  });

  test.each(['TransactionConflict', 'ValidationError'])(
    'parks the record if the cancellation reason of its transaction is %s',
    async (Code) => {
      const { parked } = await deliver((text, once) => {
        const [own] = once([put(text)]);
        throw cancelled({ Code, Item: { ...stored(own!.Update!.Key), number: { S: '999' } } });
      });
      expect(parked).toHaveLength(1);
    },
  );

  test('parks a record whose transaction contains the item of once for an earlier record of the key', async () => {
    const transactions = new Transactions();
    let firstOnce: Once | undefined;
    const { parked } = await deliver(
      (text, once) => {
        firstOnce ??= once;
        return transactions.write(firstOnce([put(text)]));
      },
      { texts: ['a1', 'a2'] },
    );
    expect(transactions.effects).toEqual(['a1']);
    expect(parked).toMatchObject([{ records: 1 }]);
  });

  test.each([
    ['is not an array', { length: 1 }],
    ['has 100 items', Array.from({ length: 100 }, (_, index) => put(`${index}`))],
  ])('rejects a transaction that %s', async (_, items) => {
    const { errors } = await deliver((__, once) => once(items as never));
    expect(errors[0]).toMatchObject({ code: 'INVALID_ARGUMENT', field: 'transactItems' });
  });
});

describe('a second use of once in one attempt', () => {
  const repeatedOnce = expect.objectContaining({ code: 'ONCE_REPEATED' });

  test.each<[string, (transactions: Transactions, text: string, once: Once) => Promise<unknown>]>([
    [
      'for another transaction',
      async (transactions, text, once) => {
        await transactions.write(once([put(text)]));
        await transactions.write(once([put('b')]));
      },
    ],
    [
      'for another transaction, which appends the result of once([])',
      async (transactions, text, once) => {
        await transactions.write([put(text), ...once<Write>([])]);
        await transactions.write([put('b'), ...once<Write>([])]);
      },
    ],
    [
      'in Postgres',
      async (transactions, text, once) => {
        await transactions.write(once([put(text)]));
        await once.postgres({ query: async () => ({ rowCount: 1 }) });
      },
    ],
  ])('%s makes the key dead, and the error explains the repeated use', async (_, handle) => {
    const transactions = new Transactions();
    const dead: string[] = [];
    const { errors, parked, consumer } = await deliver((text, once) => handle(transactions, text, once), {
      onDead: ({ partitionKey }) => dead.push(partitionKey),
    });
    expect(transactions.effects).toEqual(['a1']);
    expect(errors).toEqual([repeatedOnce]);
    expect(parked).toMatchObject([
      { dead: true, lastError: expect.stringContaining('put all effects of a record into one') },
    ]);
    expect(dead).toEqual(['a']);
    expect(await consumer.retryParked()).toMatchObject({ keys: 0, dead: 1 });
  });

  test('for the same transaction, after a lost response, writes the effects once', async () => {
    const transactions = new Transactions();
    const { errors, parked } = await deliver(async (text, once) => {
      await transactions.write(once([put(text)])); // The response is lost.
      await transactions.write(once([put(text)]));
    });
    expect({ errors, parked, effects: transactions.effects }).toEqual({ errors: [], parked: [], effects: ['a1'] });
  });
});

describe('the client of the transaction', () => {
  const sent: Item[] = [];
  const low = new DynamoDB({
    region: 'eu-west-1',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    maxAttempts: 1,
  });
  low.middlewareStack.add(
    () =>
      async ({ request }) => {
        sent.push(JSON.parse(new TextDecoder().decode((request as { body: Uint8Array }).body)));
        throw new Error('request was recorded');
      },
    { step: 'finalizeRequest', priority: 'low' },
  );
  const clients: [string, (items: never) => Promise<unknown>, unknown][] = [
    ['a low-level client', (TransactItems) => low.transactWriteItems({ TransactItems }), { S: 'order' }],
    ['a document client', (TransactItems) => DynamoDBDocument.from(low).transactWrite({ TransactItems }), 'order'],
    [
      'a document client with every option',
      (TransactItems) => {
        const marshallOptions = {
          convertEmptyValues: true,
          removeUndefinedValues: true,
          convertClassInstanceToMap: true,
        };
        return DynamoDBDocument.from(low, { marshallOptions }).transactWrite({ TransactItems });
      },
      'order',
    ],
  ];

  test.each(clients)(
    '%s sends the number in the item of once as a string, together with the other items of the transaction',
    async (_, send, id) => {
      sent.length = 0;
      const items = [{ Put: { TableName: 'Orders', Item: { id } } }];
      await deliver((__, once) => send(once(items) as never), { attempts: 2 });
      await deliver((__, once) => send([...items, ...once([])] as never), { attempts: 2 });
      const updates = sent.map(({ TransactItems }) => (TransactItems as Write[]).find(({ Update }) => Update)!.Update!);
      expect(updates).toHaveLength(4);
      for (const { Key, ExpressionAttributeValues } of updates) {
        expect(Key).toEqual({ id: { S: '["c","done","a"]' }, part: { S: expect.stringContaining('shard/') } });
        expect(ExpressionAttributeValues).toEqual({
          ':number': { S: '001:1.0000000000' },
          ':expiresAt': { N: expect.stringMatching(/^\d+$/) },
        });
      }
    },
  );
});

describe('a client request token of the caller', () => {
  test('makes DynamoDB return the first result to a later attempt, even if the later attempt is on the next day', async () => {
    for (let day = 0; day < 800; day++) {
      const midnight = Date.UTC(2026, 0, 1) + day * 86_400_000;
      const transactions = new Transactions();
      const now = jest.spyOn(Date, 'now').mockReturnValue(midnight - 1);
      const { errors, parked } = await deliver(async (text, once, attempt) => {
        await transactions.write(once([put(text)]), 'token');
        now.mockReturnValue(midnight + 60_000);
        if (attempt === 1) throw new Error('the connection was lost');
      });
      expect({ day, errors: errors.length, parked, effects: transactions.effects }).toEqual({
        day,
        errors: 1,
        parked: [],
        effects: ['a1'],
      });
      now.mockRestore();
    }
  });

  test.each([1, 30, 400])(
    'does not change when a record number expires: after at least %d days, and at most 25 %% more',
    async (rememberDays) => {
      const store = new DynamoDbParkingStore(new ParkingTable() as never, {
        tableName: 'Parked',
        consumer: 'c',
        rememberDays,
      });
      for (let number = 0; number < 200; number++) {
        const { Update } = store.onceItem('a', { series: 's', number: String(number) });
        const days = (Number(Update.ExpressionAttributeValues[':expiresAt'].N) - Date.now() / 1_000) / 86_400;
        expect(days).toBeGreaterThanOrEqual(rememberDays - 0.001);
        expect(days).toBeLessThanOrEqual(1.25 * rememberDays + 0.001);
      }
    },
  );
});

test.each([0, null])(
  'once.postgres treats a record as done if the statement updated no row, because the stored number is equal or higher: rowCount %s',
  async (rowCount) => {
    let error: unknown;
    const { parked } = await deliver(async (_, once) => {
      await once.postgres({ query: async () => ({ rowCount }) }).catch((thrown) => {
        error = thrown;
        throw thrown;
      });
    });
    expect([error, parked]).toEqual([expect.any(RecordDoneError), []]);
  },
);

test('once in a DynamoDB transaction requires a DynamoDbParkingStore', async () => {
  const { errors } = await deliver((_, once) => once([]), { parking: new MemoryParkingStore() });
  expect(errors[0]).toMatchObject({ code: 'INVALID_ARGUMENT', field: 'parking' });
});
