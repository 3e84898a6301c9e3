import { paginateScan } from '@aws-sdk/client-dynamodb';
import { DynamoDbParkingStore, OrderedConsumer } from '../../lib/core/consumer';
import { dynaliteForTests } from '../support/dynalite';
import { SOURCE, shardOf } from '../support/fakes/stream-events';
import { createParkingTable, PARKING_TABLE, playParkingStores, type StoreFacts } from '../support/plays/parking-stores';
import { randomRuns, randomRunsTimeout } from '../support/random-runs';

/** Tests the store with the real SDK and an emulated table. */
describe('DynamoDbParkingStore', () => {
  const { dynamoDb: dynamodb } = dynaliteForTests();
  beforeAll(() => createParkingTable(dynamodb));
  const storeOf = (consumer: string) => new DynamoDbParkingStore(dynamodb, { tableName: PARKING_TABLE, consumer });

  test(
    'returns the same results as the store in memory, also with late reads, lost responses and crashes',
    async () => {
      const all: StoreFacts[] = [];
      for (let seed = 0; seed < randomRuns(3); seed++) {
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

  test('parks and returns a record of 10 MiB', async () => {
    const store = storeOf('large');
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

  test('separates the parked keys of each consumer', async () => {
    const [one, other] = [storeOf('one'), storeOf('other')];
    const consumer = new OrderedConsumer(
      () => {
        throw new Error('poison');
      },
      { parking: one, attempts: 2 },
    );
    await consumer.process(shardOf(['a']), { source: SOURCE });
    expect((await one.find(['a'])).size).toBe(1);
    expect((await other.find(['a'])).size).toBe(0);
  });

  test('markHandled – a lower number follows – keeps the higher number', async () => {
    const store = storeOf('pass');
    await store.markHandled('a', { series: 's', number: '005' });
    await store.markHandled('a', { series: 's', number: '003' });
    const { Item } = await dynamodb.getItem({
      TableName: PARKING_TABLE,
      Key: { id: { S: '["pass","done","a"]' }, part: { S: 's' } },
    });
    expect(Item!.number).toEqual({ S: '005' });
  });

  describe('moves', () => {
    const move = { moveId: 'm', partitionKey: 'a' };
    test('waitForMove adds up the waiting time of all readers, and reports a move that has ended', async () => {
      const [one, other] = [storeOf('c'), storeOf('c')];
      expect(await one.waitForMove(move, 0)).toEqual({ hasEnded: false, waitedMs: 0 });
      expect(await one.waitForMove(move, 10.4)).toEqual({ hasEnded: false, waitedMs: 10 });
      expect(await other.waitForMove(move, 20)).toEqual({ hasEnded: false, waitedMs: 30 });
      await other.endMove(move);
      await one.endMove(move);
      expect(await one.waitForMove(move, 0)).toEqual({ hasEnded: true, waitedMs: 30 });
    });

    test('endMove ends only the move of its consumer, move id and key', async () => {
      await storeOf('d').endMove(move);
      const hasEnded = async (consumer: string, other: object) =>
        (await storeOf(consumer).waitForMove({ ...move, ...other }, 0)).hasEnded;
      expect(await hasEnded('d', {})).toBe(true);
      expect(await hasEnded('e', {})).toBe(false);
      expect(await hasEnded('d', { moveId: 'n' })).toBe(false);
      expect(await hasEnded('d', { partitionKey: 'b' })).toBe(false);
    });

    test('moves expire eight days after their last use', async () => {
      await storeOf('f').endMove(move);
      const Key = { id: { S: '["f","m","a"]' }, part: { S: 'move' } };
      const { Item } = await dynamodb.getItem({ TableName: PARKING_TABLE, Key });
      const days = (Number(Item!.expiresAt!.N) - Date.now() / 1000) / (24 * 60 * 60);
      expect(days).toBeGreaterThan(7.9);
      expect(days).toBeLessThan(8.1);
    });
  });
});
