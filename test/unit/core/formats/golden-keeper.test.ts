import {
  DynamoDbKeeperStore,
  type KeeperTableClient,
} from '../../../../lib/core/sharded-index/keeper/dynamodb-keeper-store';
import { keyTextOf } from '../../../../lib/core/sharded-index/keeper/table-change';
import { goldenValues } from '../../../support/golden/golden-values';

type Golden = { item: object };

const storeWith = (Item: object) =>
  new DynamoDbKeeperStore(
    { getItem: async () => ({ Item }), query: async () => ({ Items: [Item] }) } as unknown as KeeperTableClient,
    'Keeper',
  );

test.each(goldenValues<Golden>('keeper-state'))(
  'golden keeper state %s – a keeper reads its sweep',
  async (_, { item }) => {
    expect(await storeWith(item).readState()).toMatchObject({
      streamArn: expect.stringMatching(/^arn:aws:dynamodb:/),
      sweep: { reason: 'firstRecords', isStarted: true, checked: 0, corrected: 0 },
    });
  },
);

test.each(goldenValues<Golden>('named-item'))(
  'golden named item %s – a keeper reads its key and its reason',
  async (_, { item }) => {
    expect((await storeWith(item).page()).items).toMatchObject([
      { key: { jobId: { S: expect.any(String) } }, reason: 'invalidValue', sinceMs: expect.any(Number), checks: 0 },
    ]);
  },
);

test('a named item has the text of its key, although DynamoDB returns the attributes of a map in any order', async () => {
  const key = { zone: { S: 'a' }, day: { S: 'b' } };
  const stored = { key: { M: { day: key.day, zone: key.zone } }, reason: { S: 'contested' }, since: { N: '1' } };
  const { items } = await storeWith({ ...stored, checks: { N: '0' } }).page();
  expect(items).toMatchObject([{ keyText: keyTextOf(key) }]);
});
