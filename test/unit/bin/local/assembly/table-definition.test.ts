import { createTableInput, type TableProperties } from '../../../../../bin/local/assembly/table-definition';

const KEY: TableProperties = {
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
};
const INDEX = {
  IndexName: 'byTime',
  KeySchema: [{ AttributeName: 'at', KeyType: 'HASH' as const }],
  Projection: { ProjectionType: 'KEYS_ONLY' as const },
};

describe('createTableInput', () => {
  test('keeps the throughput of a Table and of its indexes', () => {
    const ProvisionedThroughput = { ReadCapacityUnits: 5, WriteCapacityUnits: 7 };
    expect(
      createTableInput('jobs', {
        ...KEY,
        ProvisionedThroughput,
        GlobalSecondaryIndexes: [{ ...INDEX, ProvisionedThroughput }],
      }),
    ).toMatchObject({
      BillingMode: 'PROVISIONED',
      ProvisionedThroughput,
      GlobalSecondaryIndexes: [{ ProvisionedThroughput }],
    });
  });

  test('reads the throughput of a GlobalTable from the table and its replica', () => {
    const definition = createTableInput('jobs', {
      ...KEY,
      BillingMode: 'PROVISIONED',
      WriteProvisionedThroughputSettings: { WriteCapacityAutoScalingSettings: { MinCapacity: 2, SeedCapacity: 20 } },
      GlobalSecondaryIndexes: [
        {
          ...INDEX,
          WriteProvisionedThroughputSettings: { WriteCapacityAutoScalingSettings: { MinCapacity: 3 } },
        },
      ],
      Replicas: [
        {
          ReadProvisionedThroughputSettings: { ReadCapacityUnits: 10 },
          GlobalSecondaryIndexes: [
            {
              IndexName: 'byTime',
              ReadProvisionedThroughputSettings: { ReadCapacityAutoScalingSettings: { MinCapacity: 4 } },
            },
          ],
        },
      ],
    });
    expect(definition.ProvisionedThroughput).toEqual({ ReadCapacityUnits: 10, WriteCapacityUnits: 20 });
    expect(definition.GlobalSecondaryIndexes?.[0]?.ProvisionedThroughput).toEqual({
      ReadCapacityUnits: 4,
      WriteCapacityUnits: 3,
    });
  });

  test('keeps local secondary indexes', () => {
    const definition = createTableInput('jobs', {
      ...KEY,
      BillingMode: 'PAY_PER_REQUEST',
      LocalSecondaryIndexes: [INDEX],
    });
    expect(definition.LocalSecondaryIndexes).toEqual([INDEX]);
  });
});
