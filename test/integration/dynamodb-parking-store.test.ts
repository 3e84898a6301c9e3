import { type DynamoDB, paginateScan } from '@aws-sdk/client-dynamodb';
import { DynamoDbParkingStore, OrderedConsumer, type ParkingTableClient } from '../../lib/core/consumer';
import { dynaliteForTests } from '../support/dynalite';
import { kinesisEvent, SOURCE, shardOf } from '../support/fakes/stream-events';
import { createParkingTable, PARKING_TABLE, playParkingStores, type StoreFacts } from '../support/plays/parking-stores';
import { randomRuns, randomRunsTimeout } from '../support/random-runs';

/** The store on the real SDK and an emulated table. */
describe('DynamoDbParkingStore', () => {
  const { dynamoDb: dynamodb } = dynaliteForTests();
  beforeAll(() => createParkingTable(dynamodb));

  test(
    'says the same as the store in memory, whatever is known too late, lost, or left behind',
    async () => {
      const all: StoreFacts[] = [];
      for (let seed = 0; seed < randomRuns(5); seed++) {
        try {
          all.push(await playParkingStores(dynamodb, seed, 40));
        } catch (error) {
          throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
        }
      }
      for (const fact of ['appended', 'refused', 'removed', 'lostAnswers', 'largeRecords'] as const) {
        expect({ fact, isInSome: all.some((each) => each[fact] > 0) }).toEqual({ fact, isInSome: true });
      }
    },
    randomRunsTimeout(120_000),
  );

  test('keeps a record of 10 MiB', async () => {
    const store = new DynamoDbParkingStore(dynamodb, { tableName: PARKING_TABLE, consumer: 'large' });
    const seen: number[] = [];
    let fails = true;
    const consumer = new OrderedConsumer(
      ({ data }) => {
        if (fails) throw new Error('poison');
        seen.push(data.length);
      },
      { parking: store, attempts: 2, retryMs: 1 },
    );
    const [record] = shardOf(['a']);
    const large = { ...record!, data: Buffer.alloc(10 * 1024 * 1024, 'x') };
    expect(await consumer.process([large], { source: SOURCE })).toEqual({ problems: [] });
    fails = false;
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await consumer.retryParked()).toMatchObject({ keys: 1, records: 1, stillParked: 0 });
    expect(seen).toEqual([10 * 1024 * 1024]);
    const pages = paginateScan({ client: dynamodb }, { TableName: PARKING_TABLE, ProjectionExpression: 'id' });
    const left: string[] = [];
    for await (const { Items } of pages) left.push(...Items!.map(({ id }) => id!.S!));
    expect(left.filter((id) => id.startsWith('["large"'))).toEqual(['["large","marks"]']);
  });

  test('costs one read of one item a batch while nothing is parked', async () => {
    const calls: string[] = [];
    const counted = new Proxy(dynamodb, {
      get: (target, name: keyof DynamoDB) => {
        calls.push(String(name));
        const value = target[name];
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const parking = new DynamoDbParkingStore(counted, { tableName: PARKING_TABLE, consumer: 'idle' });
    const consumer = new OrderedConsumer(() => {}, { parking });
    calls.length = 0;
    await consumer.handler(kinesisEvent(shardOf(['a', 'b', 'c'])), { getRemainingTimeInMillis: () => 60_000 });
    expect(calls).toEqual(['getItem']);
  });

  test('keeps consumers apart', async () => {
    const [one, other] = ['one', 'other'].map(
      (consumer) => new DynamoDbParkingStore(dynamodb, { tableName: PARKING_TABLE, consumer }),
    );
    const consumer = new OrderedConsumer(
      () => {
        throw new Error('poison');
      },
      { parking: one!, attempts: 2 },
    );
    await consumer.process(shardOf(['a']), { source: SOURCE });
    expect((await one!.find(['a'])).size).toBe(1);
    expect((await other!.find(['a'])).size).toBe(0);
  });

  test('remembers what a place was passed, and never goes back', async () => {
    const store = new DynamoDbParkingStore(dynamodb, { tableName: PARKING_TABLE, consumer: 'pass' });
    await store.markHandled('a', { series: 's', number: '005' });
    await store.markHandled('a', { series: 's', number: '003' });
    const { Item } = await dynamodb.getItem({
      TableName: PARKING_TABLE,
      Key: { id: { S: '["pass","done","a"]' }, part: { S: 's' } },
    });
    expect(Item!.number).toEqual({ S: '005' });
  });

  test.each([
    ['consumer', { consumer: '' }],
    ['consumer', { consumer: 'c'.repeat(129) }],
    ['tableName', { tableName: '' }],
    ['rememberDays', { rememberDays: 0 }],
  ])('refuses a wrong %s', (field, options) => {
    const create = () =>
      new DynamoDbParkingStore(dynamodb as ParkingTableClient, { tableName: 't', consumer: 'c', ...options });
    expect(create).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', field }));
  });
});
