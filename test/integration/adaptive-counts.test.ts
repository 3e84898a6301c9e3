import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import {
  AdaptiveIndex,
  DynamoDbShardCountStore,
  decreaseShardCount,
  endDrain,
  fanOutCount,
  findStrays,
  type ItemReshardClient,
  increaseShardCount,
  reshardItems,
  shardPut,
} from '../../lib/core';
import {
  INDEX,
  READ_UNITS_PER_SECOND,
  SEGMENTS_AT_ONCE,
  WRITE_UNITS_PER_SECOND,
} from '../../lib/core/contract/function-environment';
import { dynaliteForTests } from '../support/dynalite';
import { adaptiveConfig } from '../support/fakes/adaptive-config';
import { jumpingClock } from '../support/fakes/jumping-clock';
import { createKeyedTable } from '../support/keyed-table';
import { LambdaFunction } from '../support/lambda-function';
import { createTable } from '../support/sharded-tables';

const { dynamoDb, endpoint } = dynaliteForTests();
const documents = DynamoDBDocument.from(dynamoDb);
const store = new DynamoDbShardCountStore(dynamoDb, adaptiveConfig);

beforeAll(async () => {
  await createTable(dynamoDb, adaptiveConfig, { orderId: 'S', byStatusShard: 'S', createdAt: 'S' });
  await createKeyedTable(dynamoDb, adaptiveConfig.adaptive!.tableName, 'index', 'value');
});

/** Tests the table of counts on dynalite with the AWS SDK, and the bundled function of the mover. */
describe('the function of IndexItemMover on an index with adaptive counts', () => {
  const ORDERS = 150;
  const why = { value: 'open', reason: 'to see', changedBy: 'a test' };

  /** Runs the function in a new thread, which has no cached counts. Returns the totals of the run. */
  const reshard = async (resumePoint?: string): Promise<{ moved: number; itemsScanned: number; refused: number }> => {
    const mover = await LambdaFunction.start({
      name: 'item-mover',
      endpoint: endpoint(),
      environment: {
        [INDEX]: JSON.stringify(adaptiveConfig),
        [READ_UNITS_PER_SECOND]: '1000',
        [WRITE_UNITS_PER_SECOND]: '1000',
        [SEGMENTS_AT_ONCE]: '1',
      },
    });
    try {
      const { response, error } = await mover.invoke(
        { segment: 0, totalSegments: 1, request: {}, resumePoint },
        60_000,
      );
      if (error !== undefined) throw new Error(error.message);
      return JSON.parse(response!).totals;
    } finally {
      await mover.stop();
    }
  };

  const newIndex = () => new AdaptiveIndex(adaptiveConfig, store);
  const found = async () => (await fanOutCount(dynamoDb, newIndex(), { value: 'open' })).count;

  test('spreads the items of a value after its count was increased, drains shards after a decrease, and restarts the scan if the counts have changed', async () => {
    for (let number = 0; number < ORDERS; number++) {
      const order = { orderId: `o-${number}`, status: 'open', createdAt: String(number) };
      await documents.put(shardPut([newIndex().initial], order));
    }
    await increaseShardCount(adaptiveConfig, store, { ...why, to: 8 }, { clock: jumpingClock() });
    expect(await found()).toBe(ORDERS);
    expect((await reshard()).moved).toBeGreaterThan(ORDERS / 2);
    expect(await found()).toBe(ORDERS);

    const stop = new AbortController();
    const small: ItemReshardClient = {
      scan: (input) => dynamoDb.scan({ ...input, Limit: 50 }),
      getItem: (input) => dynamoDb.getItem(input),
      updateItem: (input) => dynamoDb.updateItem(input),
    };
    const early = { signal: stop.signal, onProgress: () => stop.abort() };
    const { resumePoint, itemsScanned } = await reshardItems(small, newIndex(), early);
    expect(itemsScanned).toBe(50);

    const { version } = await decreaseShardCount(adaptiveConfig, store, { ...why, to: 2 }, { clock: jumpingClock() });
    expect(await findStrays(dynamoDb, newIndex())).toMatchObject({ hidden: 0 });
    const drained = await reshard(resumePoint);
    expect(drained).toMatchObject({ refused: 0, itemsScanned: ORDERS });
    expect(drained.moved).toBeGreaterThan(ORDERS / 2);
    await endDrain(adaptiveConfig, store, { ...why, version });
    expect((await newIndex().forReading()).shards.byValue).toEqual({ open: { write: 2, read: 2 } });
    expect(await found()).toBe(ORDERS);
    expect(await findStrays(dynamoDb, newIndex())).toMatchObject({ hidden: 0, strays: { misplaced: 0 } });
  }, 120_000);
});
