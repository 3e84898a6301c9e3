import { DynamoDbRegistryStore, type RegistryItem } from '../../../../lib/core/registry/dynamodb-registry-store';
import { REGISTRY_TABLE_TIME_TO_LIVE } from '../../../../lib/core/registry/registry-contract';

const WEEK_SECONDS = 7 * 24 * 60 * 60;

/** A store whose client accepts only these calls. */
function storeOf(calls: object): DynamoDbRegistryStore {
  const unexpected = async () => Promise.reject(new Error('unexpected call'));
  const client = { getItem: unexpected, putItem: unexpected, scan: unexpected, ...calls };
  return new DynamoDbRegistryStore(client as never, 'Keys');
}

/** The item that the store writes for an entry. */
async function written(entry: { hashKey?: bigint }): Promise<RegistryItem> {
  const items: RegistryItem[] = [];
  const client = {
    putItem: async ({ Item }: { Item: RegistryItem }) => {
      items.push(Item);
      return {};
    },
  };
  const store = storeOf(client);
  await store.writeEntry({ owner: 'ann', version: 3, weight: 2, ...entry });
  return items[0]!;
}

test('an entry with a hash key does not expire', async () => {
  const item = await written({ hashKey: 7n });
  expect(item).toMatchObject({ version: { N: '3' }, weight: { N: '2' }, hashKey: { S: '7' } });
  expect(item).not.toHaveProperty(REGISTRY_TABLE_TIME_TO_LIVE);
});

test('a released entry expires after one week, with the expiry time in seconds as DynamoDB requires', async () => {
  const before = Math.floor(Date.now() / 1000);
  const item = await written({});
  expect(item).not.toHaveProperty('hashKey');
  const expiresAt = Number(item[REGISTRY_TABLE_TIME_TO_LIVE].N);
  expect(expiresAt).toBeGreaterThanOrEqual(before + WEEK_SECONDS);
  expect(expiresAt).toBeLessThanOrEqual(Math.floor(Date.now() / 1000) + WEEK_SECONDS);
});

test('reads of one entry and of all entries are strongly consistent, and a read of all entries does not return the head', async () => {
  const items: RegistryItem[] = [{ id: { S: 'head' } }];
  const client = {
    putItem: async ({ Item }: { Item: RegistryItem }) => void items.push(Item),
    getItem: async ({ Key, ConsistentRead }: RegistryItem) =>
      ConsistentRead ? { Item: items.find(({ id }) => id.S === Key.id.S) } : {},
    scan: async ({ ConsistentRead, ExclusiveStartKey: start, ...more }: RegistryItem) => {
      expect([ConsistentRead, Object.keys(more)]).toEqual([true, ['TableName']]);
      const index = start === undefined ? 0 : start.index + 1;
      return { Items: [items[index]], ...(index + 1 < items.length && { LastEvaluatedKey: { index } }) };
    },
  };
  const store = storeOf(client);
  const ann = { owner: 'ann', version: 3, weight: 2, hashKey: 7n };
  const bob = { owner: 'bob', version: 4, weight: 1 };
  await store.writeEntry(ann);
  await store.writeEntry(bob);
  expect(await Promise.all(['ann', 'bob', 'eve'].map((owner) => store.readEntry(owner)))).toEqual([
    ann,
    bob,
    undefined,
  ]);
  expect(await store.readEntries()).toEqual([ann, bob]);
});

test('the first head is written only if no head exists, and a later head only in place of the previous version', async () => {
  const sent: RegistryItem[] = [];
  const store = storeOf({ putItem: async (input: RegistryItem) => void sent.push(input) });
  for (const version of [1, 2]) {
    await store.writeHead({ version, recent: [{ owner: 'ann', version, weight: 1 }] }, version - 1);
  }
  expect(sent.map((input) => [input.ConditionExpression, input.ExpressionAttributeValues])).toEqual([
    ['attribute_not_exists(#version)', undefined],
    ['#version = :version', { ':version': { N: '1' } }],
  ]);
  expect(sent.map(({ Item }) => Object.keys(Item))).toEqual([
    ['id', 'version', 'recent'],
    ['id', 'version', 'recent'],
  ]);
});

describe('the head of the registry', () => {
  const head = {
    version: 3,
    recent: [
      { owner: 'ann', version: 2, weight: 2, hashKey: 7n },
      { owner: 'bob', version: 3, weight: 1 },
    ],
  };
  const storeThat = (putItem: (input: RegistryItem) => Promise<object>) => storeOf({ putItem });
  let written: RegistryItem | undefined;
  beforeEach(() =>
    storeThat(async ({ Item }) => {
      written = Item;
      return {};
    }).writeHead(head, 2),
  );

  test('is returned as it was written, including owners without a hash key', async () => {
    const store = storeOf({ getItem: async () => ({ Item: written }) });
    expect(await store.readHead()).toEqual(head);
  });

  test('is returned by a write that DynamoDB rejects because another head is stored', async () => {
    const rejection = Object.assign(new Error('rejected'), { name: 'ConditionalCheckFailedException' });
    expect(await storeThat(async () => ({})).writeHead(head, 2)).toBe(true);
    expect(await storeThat(() => Promise.reject({ ...rejection, Item: written })).writeHead(head, 2)).toEqual(head);
    expect(await storeThat(() => Promise.reject(rejection)).writeHead(head, 2)).toBe(false);
  });

  test('may have been written if a write gets no response, so the write throws the error', async () => {
    const noResponse = Object.assign(new Error('no response'), { name: 'TimeoutError' });
    await expect(storeThat(() => Promise.reject(noResponse)).writeHead(head, 2)).rejects.toBe(noResponse);
  });
});
