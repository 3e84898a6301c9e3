import { DynamoDbFenceStore, type FenceTableClient, InvalidArgumentError } from '../../lib/core';
import { dynaliteForTests } from '../support/dynalite';
import { createKeyedTable } from '../support/keyed-table';

/** The store on the real SDK and an emulated table. */
describe('DynamoDbFenceStore', () => {
  const TABLE = 'Moves';
  const move = { moveId: 'm', partitionKey: 'a' };
  const { dynamoDb: dynamodb } = dynaliteForTests();
  beforeAll(() => createKeyedTable(dynamodb, TABLE, 'id'));
  const storeOf = (consumer: string) => new DynamoDbFenceStore(dynamodb, { tableName: TABLE, consumer });

  test('adds up what readers have waited, until the move has ended, for good', async () => {
    const [one, other] = [storeOf('c'), storeOf('c')];
    expect(await one.wait(move, 0)).toEqual({ hasEnded: false, waitedMs: 0 });
    expect(await one.wait(move, 10.4)).toEqual({ hasEnded: false, waitedMs: 10 });
    expect(await other.wait(move, 20)).toEqual({ hasEnded: false, waitedMs: 30 });
    await other.end(move);
    await one.end(move);
    expect(await one.wait(move, 0)).toEqual({ hasEnded: true, waitedMs: 30 });
  });

  test('keeps consumers, moves and keys apart', async () => {
    await storeOf('d').end(move);
    const hasEnded = async (consumer: string, other: object) =>
      (await storeOf(consumer).wait({ ...move, ...other }, 0)).hasEnded;
    expect(await hasEnded('d', {})).toBe(true);
    expect(await hasEnded('e', {})).toBe(false);
    expect(await hasEnded('d', { moveId: 'n' })).toBe(false);
    expect(await hasEnded('d', { partitionKey: 'b' })).toBe(false);
  });

  test('lets DynamoDB delete a move some days after it was last used', async () => {
    await new DynamoDbFenceStore(dynamodb, { tableName: TABLE, consumer: 'f', retentionDays: 2 }).end(move);
    const { Item } = await dynamodb.getItem({ TableName: TABLE, Key: { id: { S: '["f","m","a"]' } } });
    const days = (Number(Item!.expiresAt!.N) - Date.now() / 1000) / (24 * 60 * 60);
    expect(days).toBeGreaterThan(1.9);
    expect(days).toBeLessThan(2.1);
  });

  test.each([{ consumer: '' }, { consumer: 'c'.repeat(257) }, { consumer: 'c', retentionDays: 0 }])(
    'refuses %j',
    (options) => {
      const client = {} as FenceTableClient;
      expect(() => new DynamoDbFenceStore(client, { tableName: TABLE, ...options })).toThrow(InvalidArgumentError);
    },
  );
});
