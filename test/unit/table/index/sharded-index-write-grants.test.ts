import { App, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { AttributeType, TableEncryptionV2 } from 'aws-cdk-lib/aws-dynamodb';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as kms from 'aws-cdk-lib/aws-kms';
import { ShardCounts, ShardedTable } from '../../../../lib';

describe('ShardedIndexGrants', () => {
  const jobId = { name: 'jobId', type: AttributeType.STRING };
  let stack: Stack;
  let grantee: iam.Role;
  beforeEach(() => {
    stack = new Stack(new App(), 'EvenShards', { env: { region: 'eu-west-1' } });
    grantee = new iam.Role(stack, 'Role', { assumedBy: new iam.AccountRootPrincipal() });
  });

  function expectStatements(statements: unknown[]): void {
    Template.fromStack(stack).hasResourceProperties('AWS::IAM::Policy', {
      PolicyDocument: Match.objectEquals({ Version: '2012-10-17', Statement: statements }),
    });
  }

  test('allow putting and updating items of exactly this table', () => {
    const table = new ShardedTable(stack, 'Jobs', { partitionKey: jobId });
    const index = table.addShardedIndex({ indexName: 'byTime', shardCounts: ShardCounts.uniform(5) });

    const grant = index.grants.write(grantee);

    expect(grant.success).toBe(true);
    expectStatements([
      {
        Effect: 'Allow',
        Action: ['dynamodb:PutItem', 'dynamodb:UpdateItem'],
        Resource: stack.resolve(table.tableArn),
      },
    ]);
  });

  test('allow using the table’s customer-managed key', () => {
    const key = new kms.Key(stack, 'Key');
    const encryption = TableEncryptionV2.customerManagedKey(key);
    const table = new ShardedTable(stack, 'Jobs', { partitionKey: jobId, encryption });
    const index = table.addShardedIndex({ indexName: 'byTime', shardCounts: ShardCounts.uniform(5) });

    index.grants.write(grantee);

    expectStatements([
      Match.objectLike({ Action: ['dynamodb:PutItem', 'dynamodb:UpdateItem'] }),
      {
        Effect: 'Allow',
        Action: ['kms:Decrypt', 'kms:Encrypt', 'kms:GenerateDataKey', 'kms:ReEncryptFrom', 'kms:ReEncryptTo'],
        Resource: stack.resolve(key.keyArn),
      },
    ]);
  });
});
