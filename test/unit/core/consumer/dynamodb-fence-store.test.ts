import { DynamoDbFenceStore, type FenceUpdateItemInput } from '../../../../lib/core';

test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])('moves are not remembered for %s days', (retentionDays) => {
  const client = { updateItem: async () => ({}) };
  expect(() => new DynamoDbFenceStore(client, { tableName: 'fences', consumer: 'c', retentionDays })).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'retentionDays' }),
  );
});

test.each(['', 'c'.repeat(257), 1])('a consumer has no name like %j', (consumer) => {
  const client = { updateItem: async () => ({}) };
  expect(() => new DynamoDbFenceStore(client, { tableName: 'fences', consumer: consumer as string })).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'consumer' }),
  );
});

const move = { moveId: 'm', partitionKey: 'k' };

test('a move has ended when its item says so, and is remembered for its days from each use on', async () => {
  const now = jest.spyOn(Date, 'now').mockReturnValue(1_000_000);
  const asked: FenceUpdateItemInput[] = [];
  const answers = [{ waitedMs: { N: '5' } }, {}, { waitedMs: { N: '7' }, hasEnded: { BOOL: true } }];
  const client = {
    updateItem: async (input: FenceUpdateItemInput) => {
      asked.push(input);
      return { Attributes: answers[asked.length - 1] };
    },
  };
  const store = new DynamoDbFenceStore(client, { tableName: 'fences', consumer: 'c'.repeat(256), retentionDays: 0.5 });
  expect(await store.wait(move, 5)).toEqual({ hasEnded: false, waitedMs: 5 });
  await store.end(move);
  expect(await store.wait(move, 2)).toEqual({ hasEnded: true, waitedMs: 7 });
  const halfADay = { ':expiresAt': { N: String(1_000 + 12 * 3_600) } };
  expect(asked.map((input) => input.ExpressionAttributeValues)).toEqual(
    Array(3).fill(expect.objectContaining(halfADay)),
  );
  await new DynamoDbFenceStore(client, { tableName: 'fences', consumer: 'c' }).end(move);
  const eightDays = { N: String(1_000 + 8 * 86_400) };
  expect(asked.pop()!.ExpressionAttributeValues).toMatchObject({ ':expiresAt': eightDays });
  const [waited, ended] = ['waitedMs', 'hasEnded'].map((name) => ({ [`#${name}`]: name, '#expiresAt': 'expiresAt' }));
  expect(asked.map((input) => input.ExpressionAttributeNames)).toEqual([waited, ended, waited]);
  now.mockRestore();
});

test.each([undefined, null, {}, { Attributes: {} }, { Attributes: { waitedMs: {} } }])(
  'the answer %j says nothing of a move: a typed error, and no move is let go',
  async (answer) => {
    const client = { updateItem: async () => answer as never };
    const store = new DynamoDbFenceStore(client, { tableName: 'fences', consumer: 'c' });
    await expect(store.wait(move, 5)).rejects.toMatchObject({ code: 'INCOMPLETE_ANSWER' });
  },
);
