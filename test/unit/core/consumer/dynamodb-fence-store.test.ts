import { DynamoDbFenceStore } from '../../../../lib/core';

test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])('moves are not remembered for %s days', (retentionDays) => {
  const client = { updateItem: async () => ({}) };
  expect(() => new DynamoDbFenceStore(client, { tableName: 'fences', consumer: 'c', retentionDays })).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'retentionDays' }),
  );
});

const move = { moveId: 'm', partitionKey: 'k' };

test.each([undefined, null, {}, { Attributes: {} }, { Attributes: { waitedMs: {} } }])(
  'the answer %j says nothing of a move: a typed error, and no move is let go',
  async (answer) => {
    const client = { updateItem: async () => answer as never };
    const store = new DynamoDbFenceStore(client, { tableName: 'fences', consumer: 'c' });
    await expect(store.wait(move, 5)).rejects.toMatchObject({ code: 'INCOMPLETE_ANSWER' });
  },
);
