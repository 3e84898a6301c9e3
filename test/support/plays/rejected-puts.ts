import type { AttributeValue, DynamoDB } from '@aws-sdk/client-dynamodb';
import {
  type IndexKeyAttribute,
  indexRejections,
  type KeyAttributeType,
} from '../../../lib/core/sharded-index/config/index-rejections';
import { MAX_KEY_BYTES } from '../../../lib/core/sharded-index/config/max-key-bytes';

/** The types of the partition key and of the sort key. Each type occurs in both parts of a key. */
const TYPES: readonly (readonly [KeyAttributeType, KeyAttributeType])[] = [
  ['S', 'N'],
  ['N', 'B'],
  ['B', 'S'],
];

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
    { NULL: true },
    { BOOL: false },
    { SS: ['x'] },
    { NS: ['1'] },
    { L: [] },
    { M: {} },
  ],
];

/**
 * Puts an item with each value of a key attribute, for each type of both key attributes of an index. Returns the puts for which
 * `indexRejections` and the emulator differ, and the numbers of accepted and rejected puts.
 */
export async function playRejectedPuts(dynamodb: DynamoDB) {
  const differences: string[] = [];
  const counts = { accepted: 0, rejected: 0 };
  for (const [partition, sort] of TYPES) {
    const TableName = `Rejects${partition}${sort}`;
    const attributes: IndexKeyAttribute[] = [
      { name: 'value', type: partition, role: 'partition' },
      { name: 'at', type: sort, role: 'sort' },
    ];
    await createTable(dynamodb, TableName, attributes);
    for (const { name } of attributes) {
      for (const value of KEY_VALUES) {
        const Item = { id: { S: 'one' }, [name]: value };
        const isRejected = indexRejections(attributes, [Item as never]).rejected > 0;
        const wasRejected = await dynamodb.putItem({ TableName, Item }).then(
          () => false,
          ({ name: error, message }) => {
            if (error === 'ValidationException') return true;
            throw new Error(`${error}: ${message}`);
          },
        );
        counts[wasRejected ? 'rejected' : 'accepted'] += 1;
        if (isRejected !== wasRejected) differences.push(`${TableName} ${name} ${JSON.stringify(value).slice(0, 40)}`);
      }
    }
    await dynamodb.deleteTable({ TableName });
  }

  return { differences, ...counts };
}

async function createTable(dynamodb: DynamoDB, TableName: string, attributes: readonly IndexKeyAttribute[]) {
  await dynamodb.createTable({
    TableName,
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    AttributeDefinitions: [
      { AttributeName: 'id', AttributeType: 'S' },
      ...attributes.map(({ name, type }) => ({ AttributeName: name, AttributeType: type })),
    ],
    GlobalSecondaryIndexes: [
      {
        IndexName: 'byValue',
        KeySchema: attributes.map(({ name, role }) => ({
          AttributeName: name,
          KeyType: role === 'partition' ? ('HASH' as const) : ('RANGE' as const),
        })),
        Projection: { ProjectionType: 'KEYS_ONLY' },
      },
    ],
  });
}
