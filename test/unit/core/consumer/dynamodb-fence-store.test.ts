import { DynamoDbFenceStore } from '../../../../lib/core';

const move = { moveId: 'm', partitionKey: 'k' };

test.each([undefined, null, {}, { Attributes: {} }, { Attributes: { waitedMs: {} } }])(
  'the answer %j says nothing of a move: a typed error, and no move is let go',
  async (answer) => {
    const client = { updateItem: async () => answer as never };
    const store = new DynamoDbFenceStore(client, { tableName: 'fences', consumer: 'c' });
    await expect(store.wait(move, 5)).rejects.toMatchObject({ code: 'INCOMPLETE_ANSWER' });
  },
);
