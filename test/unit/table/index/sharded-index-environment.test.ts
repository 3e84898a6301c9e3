import { App, Stack } from 'aws-cdk-lib';
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions';
import { AttributeType, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import * as iam from 'aws-cdk-lib/aws-iam';
import { FanOutQueryFunction, ShardCounts, ShardedIndex, ShardedTable } from '../../../../lib';
import { InvalidArgumentError } from '../../../../lib/core/kernel/errors';
import { plainFunction } from '../../../support/minimal-constructs';

const ACCOUNT = '111111111111';
const home = { account: ACCOUNT, region: 'eu-west-1' };
const elsewhere = { account: ACCOUNT, region: 'us-east-1' };
const partitionKey = { name: 'jobId', type: AttributeType.STRING };

describe('a sharded index in another region', () => {
  let app: App;
  let index: ShardedIndex;
  beforeEach(() => {
    app = new App();
    const table = new ShardedTable(new Stack(app, 'Home', { env: home }), 'Jobs', {
      partitionKey,
      tableName: 'jobs',
      replicas: [{ region: 'us-east-1' }],
    });
    index = table.addShardedIndex({ indexName: 'byTime', shardCounts: ShardCounts.uniform(5) });
  });

  const functionIn = (stack: Stack) => plainFunction(stack, 'Bound');

  test('is rejected by a query function in that region', () => {
    const query = (id: string) => () =>
      new FanOutQueryFunction(new Stack(app, id, { env: elsewhere }), 'Query', { indexes: [index] });

    expect(query('Elsewhere')).toThrow(InvalidArgumentError);
    expect(query('Third')).toThrow(
      'Third/Query: indexes.byTime must be an index of the account and region aws://111111111111/us-east-1, got "aws://111111111111/eu-west-1"',
    );
  });

  test.each(['bindReader', 'bindWriter'] as const)('is rejected by %s for a function in that region', (bind) => {
    const bound = functionIn(new Stack(app, 'Elsewhere', { env: elsewhere }));

    expect(() => index[bind](bound)).toThrow(`Elsewhere/Bound: ${bind} must be the index byTime of the account`);
  });

  test('onReplica lets functions of that region query and write the replica', () => {
    const stack = new Stack(app, 'Elsewhere', { env: elsewhere });
    const replica = index.onReplica('us-east-1');
    new FanOutQueryFunction(stack, 'Query', { indexes: [replica] });
    replica.bindWriter(functionIn(stack));

    const template = Template.fromStack(stack);
    const tableArn = {
      'Fn::Join': ['', ['arn:', { Ref: 'AWS::Partition' }, ':dynamodb:us-east-1:111111111111:table/jobs']],
    };
    template.hasResourceProperties('AWS::IAM::Policy', {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({ Action: ['dynamodb:PutItem', 'dynamodb:UpdateItem'], Resource: tableArn }),
        ]),
      },
    });
    expect(JSON.stringify(template)).toContain('us-east-1:111111111111:table/jobs/index/byTime');
    expect(index.onReplica('us-east-1')).toBe(replica);
    expect(index.onReplica('eu-west-1')).toBe(index);
  });

  test('onReplica rejects a region without a replica', () => {
    expect(() => index.onReplica('ap-south-1')).toThrow('No replica table exists in region ap-south-1');
  });

  test('onReplica works for an imported table', () => {
    const stack = new Stack(app, 'Elsewhere', { env: elsewhere });
    const table = TableV2.fromTableArn(stack, 'Imported', `arn:aws:dynamodb:eu-west-1:${ACCOUNT}:table/jobs`);
    const imported = ShardedIndex.fromShardedIndexAttributes({
      table,
      tableKey: ['jobId'],
      indexName: 'byTime',
      shardCounts: ShardCounts.uniform(5),
    });

    expect(imported.onReplica('us-east-1').indexArn).toBe(
      `arn:aws:dynamodb:us-east-1:${ACCOUNT}:table/jobs/index/byTime`,
    );
  });
});

describe('the grants of a sharded index', () => {
  const otherRole = 'arn:aws:iam::222222222222:role/reader';

  test.each(['query', 'write'] as const)(
    'for %s use the resource policy of the table if the role is in another account',
    (grant) => {
      const stack = new Stack(new App(), 'Home', { env: home });
      const table = new ShardedTable(stack, 'Jobs', { partitionKey });
      const index = table.addShardedIndex({ indexName: 'byTime', shardCounts: ShardCounts.uniform(5) });
      const role = iam.Role.fromRoleArn(stack, 'Role', otherRole);

      expect(index.grants[grant](role).success).toBe(true);
      Template.fromStack(stack).hasResourceProperties('AWS::DynamoDB::GlobalTable', {
        Replicas: [
          Match.objectLike({
            ResourcePolicy: {
              PolicyDocument: Match.objectLike({
                Statement: [
                  {
                    Effect: 'Allow',
                    Principal: { AWS: otherRole },
                    Action: grant === 'query' ? 'dynamodb:Query' : ['dynamodb:PutItem', 'dynamodb:UpdateItem'],
                    Resource: '*',
                  },
                ],
              }),
            },
          }),
        ],
      });
      Annotations.fromStack(stack).hasNoWarning('*', Match.stringLikeRegexp('grantWithoutEffect'));
    },
  );

  test.each<[string, (stack: Stack) => iam.IGrantable]>([
    ['a role of another account', (stack) => iam.Role.fromRoleArn(stack, 'Role', otherRole)],
    ['an ARN without a policy in this app', () => new iam.ArnPrincipal(otherRole)],
  ])('give a warning if a grant has no effect: for an imported table, to %s', (_, grantee) => {
    const stack = new Stack(new App(), 'Home', { env: home });
    const index = ShardedIndex.fromShardedIndexAttributes({
      table: TableV2.fromTableName(stack, 'Jobs', 'jobs'),
      tableKey: ['jobId'],
      indexName: 'byTime',
      shardCounts: ShardCounts.uniform(5),
    });
    index.grants.query(grantee(stack));

    Annotations.fromStack(stack).hasWarning(
      '/Home/Jobs',
      Match.stringLikeRegexp('^cannot allow dynamodb:Query on byTime for .*resource policy of the table'),
    );
  });
});
