import { dynaliteForTests } from '../../support/dynalite';
import { createKeyedTable } from '../../support/keyed-table';
import { expressionsAtTheLimits } from '../../support/plays/expressions-at-the-limits';
import { sendExpression } from '../../support/plays/send-expression';

describe('an expression at a limit of DynamoDB', () => {
  const { dynamoDb } = dynaliteForTests();
  beforeAll(() => createKeyedTable(dynamoDb, 'Limits', 'id'));

  test.each(expressionsAtTheLimits())(
    '$name – dynalite answers as DynamoDB does: $answer',
    async ({ request, problem }) => {
      expect(await sendExpression(dynamoDb, 'Limits', request)).toBe(problem);
    },
  );
});

describe('the DynamoDB of a local run', () => {
  const { dynamoDb } = dynaliteForTests();
  beforeAll(() => createKeyedTable(dynamoDb, 'Keyed', 'id'));

  test.each([
    ['EQ', { KeyConditions: { id: { ComparisonOperator: 'EQ', AttributeValueList: [{ S: '' }] } } }],
    ['an expression', { KeyConditionExpression: 'id = :id', ExpressionAttributeValues: { ':id': { S: '' } } }],
  ] as const)('rejects a query with %s of an empty key value', async (_, condition) => {
    await expect(dynamoDb.query({ TableName: 'Keyed', ...(condition as object) })).rejects.toThrow(
      'The AttributeValue for a key attribute cannot contain an empty string value. Key: id',
    );
  });

  test('rejects a new index of a table, and PartiQL', async () => {
    const Create = {
      IndexName: 'byId',
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' as const }],
      Projection: {},
    };
    await expect(
      dynamoDb.updateTable({ TableName: 'Keyed', GlobalSecondaryIndexUpdates: [{ Create }] }),
    ).rejects.toThrow('dynalite adds and deletes no index of an existing table');
    await expect(dynamoDb.executeStatement({ Statement: 'SELECT * FROM Keyed' })).rejects.toThrow(
      'dynalite has no PartiQL',
    );
  });
});
