import { App, Stack } from 'aws-cdk-lib';
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions';
import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { Topic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import {
  FanOutQueryFunction,
  HashKeyRegistry,
  type IBundledFunction,
  IndexKeeper,
  KeyspacesFanOutQueryFunction,
  OrderedProducerFunction,
  OutboxRelayFunction,
  ShardCounts,
  ShardedTable,
  ShardMonitoring,
  UniformStream,
} from '../../../lib';
import { InvalidArgumentError } from '../../../lib/core';
import { keyspacesTable, producer, query, relay, vpcOf } from '../../support/minimal-constructs';

const env = { account: '111111111111', region: 'eu-west-1' };
const FUNCTION_ARN = 'arn:aws:lambda:eu-west-1:111111111111:function:theirs';

interface FunctionClass {
  fromFunctionArn(scope: Construct, id: string, functionArn: string): IBundledFunction;
  fromFunctionAttributes(scope: Construct, id: string, attributes: lambda.FunctionAttributes): IBundledFunction;
}

const classes: [string, FunctionClass, (stack: Stack) => IBundledFunction & { readonly function: lambda.Function }][] =
  [
    ['OrderedProducerFunction', OrderedProducerFunction, (stack) => producer(stack, { vpc: vpcOf(stack) })],
    ['FanOutQueryFunction', FanOutQueryFunction, (stack) => query(stack, { vpc: vpcOf(stack) })],
    [
      'KeyspacesFanOutQueryFunction',
      KeyspacesFanOutQueryFunction,
      (stack) => new KeyspacesFanOutQueryFunction(stack, 'It', { tables: [keyspacesTable(stack)], vpc: vpcOf(stack) }),
    ],
    ['OutboxRelayFunction', OutboxRelayFunction, relay],
  ];

/** Methods that accept an `IGrantable`, each with an action that it allows. */
const grants: [string, string, (stack: Stack, grantee: iam.IGrantable) => unknown][] = [
  ['a topic', 'sns:Publish', (stack, grantee) => new Topic(stack, 'Grants').grantPublish(grantee)],
  ['a table', 'dynamodb:GetItem', (stack, grantee) => tableOf(stack).grantReadData(grantee)],
  ['produceGrants', 'kinesis:PutRecords', (stack, grantee) => other(stack).produceGrants.produce(grantee)],
  [
    'a registry',
    'dynamodb:GetItem',
    (stack, grantee) => new HashKeyRegistry(stack, 'Grants', { stream: other(stack) }).grants.read(grantee),
  ],
  [
    'a sharded index',
    'dynamodb:Query',
    (stack, grantee) => {
      const index = { indexName: 'byTime', shardCounts: ShardCounts.uniform(2) };
      return tableOf(stack).addShardedIndex(index).grants.query(grantee);
    },
  ],
];

function tableOf(stack: Stack): ShardedTable {
  return new ShardedTable(stack, 'Grants', { partitionKey: { name: 'id', type: AttributeType.STRING } });
}

function other(stack: Stack): UniformStream {
  return new UniformStream(stack, 'Others', { shardCount: 1 });
}

describe.each(classes)('%s', (_, cls, make) => {
  let stack: Stack;
  beforeEach(() => {
    stack = new Stack(new App(), 'EvenShards', { env });
  });

  const policiesOf = (role: iam.IRole) =>
    JSON.stringify(
      Object.values(Template.fromStack(stack).findResources('AWS::IAM::Policy')).filter(({ Properties }) =>
        JSON.stringify(Properties.Roles).includes(JSON.stringify(stack.resolve(role.roleName))),
      ),
    );

  test.each(grants)('in this app can get a grant of %s', (_, action, grant) => {
    const it = make(stack);
    grant(stack, it);

    expect(policiesOf(it.function.role!)).toContain(action);
  });

  test.each(grants)('imported with a role can get a grant of %s', (_, action, grant) => {
    const role = iam.Role.fromRoleArn(stack, 'Role', 'arn:aws:iam::111111111111:role/theirs');
    const it = cls.fromFunctionAttributes(stack, 'It', { functionArn: FUNCTION_ARN, role });
    grant(stack, it);

    expect(policiesOf(role)).toContain(action);
  });

  test('imported without a role causes a warning or an error for a grant', () => {
    const it = cls.fromFunctionArn(stack, 'It', FUNCTION_ARN);
    new HashKeyRegistry(stack, 'Registry', { stream: other(stack) }).grants.read(it);

    Annotations.fromStack(stack).hasWarning('*', Match.stringLikeRegexp('dynamodb:GetItem'));
    expect(() => new Topic(stack, 'Topic').grantPublish(it)).toThrow('resource imported without a role');
  });

  test.each([
    ['this app', make],
    ['another app', (stack: Stack) => cls.fromFunctionArn(stack, 'It', FUNCTION_ARN)],
  ])('of %s can be invoked with grantInvoke', (_, itOf) => {
    const it = itOf(stack);
    const role = new iam.Role(stack, 'Caller', { assumedBy: new iam.AccountRootPrincipal() });
    it.grantInvoke(role);

    expect(policiesOf(role)).toContain('lambda:InvokeFunction');
    expect(policiesOf(role)).toContain(JSON.stringify(stack.resolve(it.functionArn)));
    expect(it.functionRef).toMatchObject({ functionArn: it.functionArn, functionName: it.functionName });
  });

  test('imported has a name, an environment, and the connections of its security group', () => {
    const securityGroup = ec2.SecurityGroup.fromSecurityGroupId(stack, 'SecurityGroup', 'sg-1');
    const it = cls.fromFunctionAttributes(stack, 'It', { functionArn: FUNCTION_ARN, securityGroup });

    expect(it.functionName).toBe('theirs');
    expect(it.functionArn).toBe(FUNCTION_ARN);
    expect(it.env).toEqual(env);
    expect(it.connections.securityGroups).toEqual([securityGroup]);
    expect(Template.fromStack(stack).toJSON().Resources).toBeUndefined();
  });
});

describe('an imported function', () => {
  const watch: [string, string, (monitoring: ShardMonitoring, functionArn: string) => void][] = [
    ['addProducer', 'a producer', (it, arn) => it.addProducer(OrderedProducerFunction.fromFunctionArn(it, 'New', arn))],
    ['addQuery', 'a query function', (it, arn) => it.addQuery(FanOutQueryFunction.fromFunctionArn(it, 'New', arn))],
    ['addIndexKeeper', 'an index keeper', (it, arn) => it.addIndexKeeper(IndexKeeper.fromFunctionArn(it, 'New', arn))],
    ['addOutbox', 'a relay', (it, arn) => it.addOutbox(OutboxRelayFunction.fromFunctionArn(it, 'New', arn))],
  ];
  const monitoringIn = (stack: Stack) => new ShardMonitoring(stack, 'Monitoring');

  test.each(watch)('is accepted by %s', (_, __, add) => {
    const stack = new Stack(new App(), 'EvenShards', { env });
    add(monitoringIn(stack), FUNCTION_ARN);

    const [dashboard] = Object.values(Template.fromStack(stack).findResources('AWS::CloudWatch::Dashboard'));
    expect(JSON.stringify(dashboard)).toContain('theirs');
  });

  test.each(watch)(
    'is rejected by %s if the monitoring is in another account or Region than the metrics of the function',
    (method, kind, add) => {
      for (const elsewhere of ['eu-north-1:111111111111', 'eu-west-1:222222222222']) {
        const [region, account] = elsewhere.split(':');
        const monitoring = monitoringIn(new Stack(new App(), 'EvenShards', { env }));

        expect(() => add(monitoring, `arn:aws:lambda:${elsewhere}:function:theirs`)).toThrow(
          new InvalidArgumentError(
            `EvenShards/Monitoring: ${method}`,
            `aws://${account}/${region}`,
            `${kind} of the account and region aws://111111111111/eu-west-1, so watch it with a ShardMonitoring in a stack of its own account and region`,
          ),
        );
      }
    },
  );
});
