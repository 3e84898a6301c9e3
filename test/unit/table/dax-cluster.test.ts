import { App, Duration, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import { DaxCluster, type DaxClusterProps } from '../../../lib';
import { InvalidArgumentError } from '../../../lib/core/kernel/errors';
import { invoiceTable } from '../../support/fakes/invoice-table';
import { plainFunction } from '../../support/minimal-constructs';

describe('DaxCluster', () => {
  let stack: Stack;
  let vpc: ec2.IVpc;
  beforeEach(() => {
    stack = new Stack(new App(), 'EvenShards', { env: { account: '111111111111', region: 'eu-west-1' } });
    vpc = ec2.Vpc.fromVpcAttributes(stack, 'Vpc', {
      vpcId: 'vpc-1',
      availabilityZones: ['eu-west-1a', 'eu-west-1b'],
      privateSubnetIds: ['subnet-1', 'subnet-2'],
    });
  });

  const invoices = () => invoiceTable(stack);
  const cluster = (props: Partial<DaxClusterProps>) => new DaxCluster(stack, 'Cache', { vpc, ...props });

  test('is encrypted at rest and in transit, and has three nodes in the private subnets', () => {
    cluster({ tables: [invoices()] });
    const template = Template.fromStack(stack);
    template.hasResourceProperties('AWS::DAX::Cluster', {
      SSESpecification: { SSEEnabled: true },
      ClusterEndpointEncryptionType: 'TLS',
      NodeType: 'dax.r5.large',
      ReplicationFactor: 3,
      IAMRoleARN: { 'Fn::GetAtt': [Match.stringLikeRegexp('^CacheRole'), 'Arn'] },
      SubnetGroupName: { Ref: Match.stringLikeRegexp('^CacheSubnets') },
      ParameterGroupName: { Ref: Match.stringLikeRegexp('^CacheParameters') },
      SecurityGroupIds: [{ 'Fn::GetAtt': [Match.stringLikeRegexp('^CacheSecurityGroup'), 'GroupId'] }],
    });
    template.hasResourceProperties('AWS::DAX::SubnetGroup', { SubnetIds: ['subnet-1', 'subnet-2'] });
    template.hasResourceProperties('AWS::DAX::ParameterGroup', {
      ParameterNameValues: { 'query-ttl-millis': '300000', 'record-ttl-millis': '300000' },
    });
  });

  test('passes its node type, nodes, times to live, security groups and subnets on to the cluster', () => {
    const securityGroup = ec2.SecurityGroup.fromSecurityGroupId(stack, 'Group', 'sg-1');
    cluster({
      tables: [invoices()],
      nodeType: 'dax.t3.small',
      nodes: 1,
      queryTimeToLive: Duration.seconds(1),
      itemTimeToLive: Duration.minutes(1),
      securityGroups: [securityGroup],
      vpcSubnets: { subnets: [vpc.privateSubnets[1]!] },
    });
    const template = Template.fromStack(stack);
    template.hasResourceProperties('AWS::DAX::Cluster', {
      NodeType: 'dax.t3.small',
      ReplicationFactor: 1,
      SecurityGroupIds: ['sg-1'],
    });
    template.hasResourceProperties('AWS::DAX::SubnetGroup', { SubnetIds: ['subnet-2'] });
    template.hasResourceProperties('AWS::DAX::ParameterGroup', {
      ParameterNameValues: { 'query-ttl-millis': '1000', 'record-ttl-millis': '60000' },
    });
    template.resourceCountIs('AWS::EC2::SecurityGroup', 0);
  });

  test('is created after its role has its permissions', () => {
    cluster({ tables: [invoices()] });
    Template.fromStack(stack).hasResource('AWS::DAX::Cluster', {
      DependsOn: Match.arrayWith([
        Match.stringLikeRegexp('^CacheRoleDefaultPolicy'),
        Match.stringLikeRegexp('^CacheRole'),
      ]),
    });
  });

  const reader = (props: object) => plainFunction(stack, 'Reader', props);

  test('bindReader opens the port for the function, and passes the endpoint to the function', () => {
    const cache = cluster({ tables: [invoices()] });
    cache.bindReader(reader({ vpc }));
    const template = Template.fromStack(stack);
    template.hasResourceProperties('AWS::Lambda::Function', {
      Environment: { Variables: { DAX_ENDPOINT: stack.resolve(cache.endpoint) } },
    });
    template.hasResourceProperties('AWS::EC2::SecurityGroupIngress', {
      FromPort: 9111,
      ToPort: 9111,
      IpProtocol: 'tcp',
      GroupId: { 'Fn::GetAtt': [Match.stringLikeRegexp('^CacheSecurityGroup'), 'GroupId'] },
      SourceSecurityGroupId: { 'Fn::GetAtt': [Match.stringLikeRegexp('^ReaderSecurityGroup'), 'GroupId'] },
    });
  });

  test.each<[string, () => unknown, string]>([
    [
      'a table of another region',
      () =>
        cluster({ tables: [TableV2.fromTableArn(stack, 'Far', 'arn:aws:dynamodb:us-east-1:111111111111:table/far')] }),
      'tables must be a table of the account and region',
    ],
    [
      'a function outside of the network',
      () => cluster({ tables: [invoices()] }).bindReader(reader({})),
      'bindReader must be a function with a vpc',
    ],
  ])('rejects %s', (_, act, message) => {
    expect(act).toThrow(InvalidArgumentError);
    stack = new Stack(new App(), 'Again', { env: { account: '111111111111', region: 'eu-west-1' } });
    expect(act).toThrow(message);
  });
});
