import { DynamoDbRegistryStore, type RegistryItem } from '../../../../lib/core/registry/dynamodb-registry-store';
import { REGISTRY_TABLE_TIME_TO_LIVE } from '../../../../lib/core/registry/registry-table';

const WEEK_SECONDS = 7 * 24 * 60 * 60;

/** What the store writes for an entry. */
async function written(entry: { hashKey?: bigint }): Promise<RegistryItem> {
  const items: RegistryItem[] = [];
  const client = {
    putItem: async ({ Item }: { Item: RegistryItem }) => {
      items.push(Item);
      return {};
    },
  };
  const store = new DynamoDbRegistryStore(client as never, 'Keys');
  await store.writeEntry({ owner: 'ann', version: 3, weight: 2, ...entry });
  return items[0]!;
}

test('an entry that has a hash key stays', async () => {
  const item = await written({ hashKey: 7n });
  expect(item).toMatchObject({ version: { N: '3' }, weight: { N: '2' }, hashKey: { S: '7' } });
  expect(item).not.toHaveProperty(REGISTRY_TABLE_TIME_TO_LIVE);
});

test('an entry that was released goes after a week, by the seconds of DynamoDB', async () => {
  const before = Math.floor(Date.now() / 1000);
  const item = await written({});
  expect(item).not.toHaveProperty('hashKey');
  const expiresAt = Number(item[REGISTRY_TABLE_TIME_TO_LIVE].N);
  expect(expiresAt).toBeGreaterThanOrEqual(before + WEEK_SECONDS);
  expect(expiresAt).toBeLessThanOrEqual(Math.floor(Date.now() / 1000) + WEEK_SECONDS);
});
