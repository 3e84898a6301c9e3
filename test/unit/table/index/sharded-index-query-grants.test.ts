import { App, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { AttributeType, TableEncryptionV2 } from 'aws-cdk-lib/aws-dynamodb';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as kms from 'aws-cdk-lib/aws-kms';
import { ShardCounts, type ShardedIndex, ShardedTable } from '../../../../lib';

describe('ShardedIndexGrants', () => {
  let stack: Stack;
  let grantee: iam.Role;
  beforeEach(() => {
    stack = new Stack(new App(), 'EvenShards', { env: { region: 'eu-west-1' } });
    grantee = new iam.Role(stack, 'Role', { assumedBy: new iam.AccountRootPrincipal() });
  });

  function addIndex(encryptionKey?: kms.IKey): ShardedIndex {
    const table = new ShardedTable(stack, 'Jobs', {
      partitionKey: { name: 'jobId', type: AttributeType.STRING },
      encryption: encryptionKey && TableEncryptionV2.customerManagedKey(encryptionKey),
    });
    table.addShardedIndex({ indexName: 'another', shardCounts: ShardCounts.uniform(5) });
    return table.addShardedIndex({ indexName: 'byTime', shardCounts: ShardCounts.uniform(5) });
  }

  function expectStatements(statements: unknown[]): void {
    const template = Template.fromStack(stack);
    template.resourceCountIs('AWS::IAM::Policy', 1);
    template.hasResourceProperties('AWS::IAM::Policy', {
      PolicyDocument: Match.objectEquals({ Version: '2012-10-17', Statement: statements }),
    });
  }

  test('allow Query on exactly this index', () => {
    const index = addIndex();

    const grant = index.grants.query(grantee);

    expect(grant.success).toBe(true);
    expectStatements([{ Effect: 'Allow', Action: 'dynamodb:Query', Resource: stack.resolve(index.indexArn) }]);
  });

  test('allow Decrypt on the table’s customer-managed key', () => {
    const key = new kms.Key(stack, 'Key');
    const index = addIndex(key);

    index.grants.query(grantee);

    expectStatements([
      { Effect: 'Allow', Action: 'dynamodb:Query', Resource: stack.resolve(index.indexArn) },
      { Effect: 'Allow', Action: 'kms:Decrypt', Resource: stack.resolve(key.keyArn) },
    ]);
  });
});
