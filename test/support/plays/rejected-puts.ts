import type { AttributeValue, DynamoDB, KeySchemaElement } from '@aws-sdk/client-dynamodb';
import { sampledItems, sampleTable } from '../../../bin/doctor/table-sample';
import { MAX_KEY_BYTES } from '../../../lib/core/sharded-index/config/check-attribute-value';
import {
  type IndexKeyAttribute,
  indexRejections,
  type KeyAttributeType,
  rejectionReasonOf,
} from '../../../lib/core/sharded-index/config/index-rejections';

/** The keys of indexes in each layout. Each type occurs in each part of a key. */
const KEYS: Readonly<Record<string, readonly IndexKeyAttribute[]>> = {
  'multi-attribute S, N, B': keyOf(['S', 'N'], 'B'),
  'multi-attribute B, N, S': keyOf(['B', 'N'], 'S'),
  'single-attribute S, N': keyOf(['S'], 'N'),
  'whole table N, S': keyOf(['N'], 'S'),
};

function keyOf(partition: readonly KeyAttributeType[], sort: KeyAttributeType): IndexKeyAttribute[] {
  return [
    ...partition.map((type, n) => ({ name: n === 0 ? 'value' : 'shard', type, role: 'partition' }) as const),
    { name: 'at', type: sort, role: 'sort' },
  ];
}

/** Values of all types. The sizes are the limits of both parts of a key, and one byte more. */
const KEY_VALUES: readonly AttributeValue[] = [
  ...[0, 1, MAX_KEY_BYTES.sort, MAX_KEY_BYTES.sort + 1, MAX_KEY_BYTES.partition, MAX_KEY_BYTES.partition + 1].flatMap(
    (bytes) => [{ S: 'x'.repeat(bytes) }, { B: new Uint8Array(bytes).fill(7) }],
  ),
  // The limit is in bytes, and this character takes two bytes.
  ...[MAX_KEY_BYTES.sort, MAX_KEY_BYTES.partition].flatMap((bytes) => [
    { S: 'é'.repeat(bytes / 2) },
    { S: 'é'.repeat(bytes / 2 + 1) },
  ]),
  ...[
    { N: '0' },
    { N: '-1.5e20' },
    { N: '9'.repeat(38) },
    { NULL: true },
    { BOOL: false },
    { SS: ['x'] },
    { NS: ['1'] },
    { BS: [new Uint8Array([1])] },
    { L: [] },
    { M: {} },
  ],
];

/** The values of each reason for a rejection. */
const SOME_VALUES = KEY_VALUES.filter((value) => {
  const { S, B } = value as { S?: string; B?: Uint8Array };
  const size = S?.length ?? B?.length ?? 1;
  return !S?.startsWith('é') && size !== MAX_KEY_BYTES.sort && size !== MAX_KEY_BYTES.partition;
});

/** Numbers that DynamoDB rejects in any attribute, with or without an index. */
const INVALID_NUMBERS: readonly AttributeValue[] = [{ N: '1'.repeat(39) }, { N: '1e126' }, { N: '1e-131' }];

/** The writes of one item, by name. Each returns the item that it wrote or did not write. */
const WRITES: Readonly<
  Record<string, (dynamodb: DynamoDB, TableName: string, Item: Record<string, AttributeValue>) => Promise<object>>
> = {
  PutItem: (dynamodb, TableName, Item) => dynamodb.putItem({ TableName, Item }),
  UpdateItem: (dynamodb, TableName, Item) => dynamodb.updateItem(updateOf(TableName, Item)),
  BatchWriteItem: (dynamodb, TableName, Item) =>
    dynamodb.batchWriteItem({ RequestItems: { [TableName]: [{ PutRequest: { Item } }] } }),
  'Put of a transaction': (dynamodb, TableName, Item) =>
    dynamodb.transactWriteItems({ TransactItems: [{ Put: { TableName, Item } }] }),
  'Update of a transaction': (dynamodb, TableName, Item) =>
    dynamodb.transactWriteItems({ TransactItems: [{ Update: updateOf(TableName, Item) }] }),
};

function updateOf(TableName: string, { id, ...rest }: Record<string, AttributeValue>) {
  const [[name, value]] = Object.entries(rest) as [[string, AttributeValue]];
  return {
    ...{ TableName, Key: { id: id! }, UpdateExpression: 'SET #name = :value' },
    ExpressionAttributeNames: { '#name': name },
    ExpressionAttributeValues: { ':value': value },
  };
}

/**
 * Writes an item with each value of each key attribute, with each kind of write, for each key of an index. Then adds the same index
 * to a table that has all these items. Returns the writes for which `indexRejections` and the emulator differ, and the numbers of
 * accepted and rejected writes. In a local run, dynalite has no multi-attribute keys, and adds no index to
 * a table.
 */
export async function playRejectedPuts(dynamodb: DynamoDB, { isLocalRun }: { isLocalRun: boolean }) {
  const differences: string[] = [];
  const counts = { accepted: 0, rejected: 0 };
  let tables = 0;
  const compare = async (title: string, isRejected: boolean, write: () => Promise<object>) => {
    const wasRejected = await write().then(
      () => false,
      ({ name, message }) => {
        if (['ValidationException', 'TransactionCanceledException'].includes(name)) return true;
        throw new Error(`${name}: ${message}`);
      },
    );
    counts[wasRejected ? 'rejected' : 'accepted'] += 1;
    if (isRejected !== wasRejected) differences.push(`${title}: ${wasRejected ? 'rejected' : 'accepted'}`);
  };
  for (const [layout, attributes] of Object.entries(KEYS)) {
    if (isLocalRun && attributes.length > 2) continue;
    const itemsWith = (values: readonly AttributeValue[]) =>
      attributes
        .flatMap(({ name }) => values.map((value) => [name, value] as const))
        .map(([name, value], n) => ({
          title: `${layout}, ${name} ${JSON.stringify(value).slice(0, 40)}`,
          item: { id: { S: `${n}` }, [name]: value } as Record<string, AttributeValue>,
        }));
    const isRejected = (item: object) => indexRejections(attributes, [item as never]).rejected > 0;

    const TableName = `Rejects${tables++}`;
    await createTable(dynamodb, TableName, attributes);
    for (const [kind, write] of Object.entries(WRITES)) {
      const items = itemsWith(kind === 'PutItem' ? KEY_VALUES : SOME_VALUES);
      await Promise.all([
        ...items.map(({ title, item }) =>
          compare(`${title}, ${kind}`, isRejected(item), () => write(dynamodb, TableName, item)),
        ),
        ...INVALID_NUMBERS.map((value) =>
          compare(`${layout} ${JSON.stringify(value)}, ${kind}`, true, () =>
            write(dynamodb, TableName, { id: { S: 'n' }, other: value }),
          ),
        ),
      ]);
    }
    await dynamodb.deleteTable({ TableName });
    if (isLocalRun) continue;

    const filled = `Filled${tables}`;
    const items = itemsWith(SOME_VALUES);
    await createTable(dynamodb, filled);
    await Promise.all(items.map(({ item }) => dynamodb.putItem({ TableName: filled, Item: item })));
    // The prediction of doctor, before the index exists.
    const sample = await sampleTable(dynamodb, { tableName: filled, partitionKey: 'id', hasSortKey: false }, 10_000);
    const predicted = new Set(
      sampledItems(sample)
        .filter((item) => attributes.some((attribute) => rejectionReasonOf(attribute, item) !== undefined))
        .map(({ id }) => (id as { S: string }).S),
    );
    if (!sample.isWhole) differences.push(`${layout}: the sample has not all items`);
    await addIndex(dynamodb, filled, attributes);
    await Promise.all(
      items.map(({ title, item }) =>
        compare(`${title}, put after the index`, predicted.has(item.id!.S!), () =>
          dynamodb.putItem({ TableName: filled, Item: item }),
        ),
      ),
    );
    await dynamodb.deleteTable({ TableName: filled });
  }
  return { differences, ...counts };
}

function definitionOf(attributes: readonly IndexKeyAttribute[]) {
  return {
    IndexName: 'byValue',
    KeySchema: attributes.map(
      ({ name, role }): KeySchemaElement => ({ AttributeName: name, KeyType: role === 'partition' ? 'HASH' : 'RANGE' }),
    ),
    Projection: { ProjectionType: 'KEYS_ONLY' as const },
  };
}

function typesOf(attributes: readonly IndexKeyAttribute[]) {
  return [
    { AttributeName: 'id', AttributeType: 'S' as const },
    ...attributes.map(({ name, type }) => ({ AttributeName: name, AttributeType: type })),
  ];
}

async function createTable(dynamodb: DynamoDB, TableName: string, attributes: readonly IndexKeyAttribute[] = []) {
  await dynamodb.createTable({
    TableName,
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    AttributeDefinitions: typesOf(attributes),
    ...(attributes.length > 0 && { GlobalSecondaryIndexes: [definitionOf(attributes)] }),
  });
  await isActive(dynamodb, TableName);
}

/** Does not wait until the index is active, because DynamoDB rejects items from the creation of the index. */
async function addIndex(dynamodb: DynamoDB, TableName: string, attributes: readonly IndexKeyAttribute[]) {
  await dynamodb.updateTable({
    ...{ TableName, AttributeDefinitions: typesOf(attributes) },
    GlobalSecondaryIndexUpdates: [{ Create: definitionOf(attributes) }],
  });
}

async function isActive(dynamodb: DynamoDB, TableName: string): Promise<void> {
  for (;;) {
    const { Table } = await dynamodb.describeTable({ TableName });
    const indexes = Table?.GlobalSecondaryIndexes ?? [];
    if (Table?.TableStatus === 'ACTIVE' && indexes.every(({ IndexStatus }) => IndexStatus === 'ACTIVE')) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
