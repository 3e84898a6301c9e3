import { DynamoDbParkingStore } from '../../lib/core';
import { dynaliteForTests } from '../support/dynalite';
import { createConsumerTables } from '../support/plays/consumer-tables';
import { PARKING_TABLE } from '../support/plays/parking-stores';

/** Tests the store with the real SDK and an emulated table. */
describe('DynamoDbParkingStore', () => {
  const move = { moveId: 'm', partitionKey: 'a' };
  const { dynamoDb: dynamodb } = dynaliteForTests();
  beforeAll(() => createConsumerTables(dynamodb));
  const storeOf = (consumer: string) => new DynamoDbParkingStore(dynamodb, { tableName: PARKING_TABLE, consumer });

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
