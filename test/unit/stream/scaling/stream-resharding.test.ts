import { App, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import * as kinesis from 'aws-cdk-lib/aws-kinesis';
import { StreamResharding, UniformStream } from '../../../../lib';
import { readableTemplate } from '../../../support/readable-template';

const RESOURCE = 'Custom::EvenShardsStreamShardCount';

describe('StreamResharding', () => {
  let stack: Stack;
  beforeEach(() => {
    stack = new Stack(new App(), 'EvenShards');
  });

  test('has a custom resource with the shard count, which returns the open shards and the skew', () => {
    const stream = new UniformStream(stack, 'Events', { shardCount: 4 });
    const { openShardCount, skew } = new StreamResharding(stack, 'Resharding', { stream, shardCount: 32 });

    const template = Template.fromStack(stack);
    template.hasResourceProperties(RESOURCE, { StreamName: stack.resolve(stream.streamName), ShardCount: 32 });
    const [resource] = Object.keys(template.findResources(RESOURCE));
    expect(stack.resolve([openShardCount, skew])).toEqual([
      { 'Fn::GetAtt': [resource, 'OpenShardCount'] },
      { 'Fn::GetAtt': [resource, 'Skew'] },
    ]);
  });

  test('has one function for all streams of a stack, with permissions for exactly these streams', () => {
    const streams = ['Events', 'Orders'].map((id) => new UniformStream(stack, id, { shardCount: 4 }));
    for (const stream of streams) new StreamResharding(stream, 'Resharding', { stream, shardCount: 32 });

    const template = Template.fromStack(stack);
    template.resourceCountIs(RESOURCE, 2);
    const functions = Object.values(template.findResources('AWS::Lambda::Function'));
    expect(functions.filter(({ Properties }) => !Properties.Description.startsWith('AWS CDK'))).toHaveLength(1);
    const statements = Object.values(template.findResources('AWS::IAM::Policy')).flatMap(
      ({ Properties }) => Properties.PolicyDocument.Statement,
    );
    const onStreams = statements.filter(({ Action }) =>
      [Action].flat().some((action) => action.startsWith('kinesis:')),
    );
    expect(onStreams.map(({ Resource }) => Resource)).toEqual(streams.map(({ streamArn }) => stack.resolve(streamArn)));
  });

  test('starts the custom resource after its permissions exist', () => {
    const stream = kinesis.Stream.fromStreamArn(
      stack,
      'Imported',
      stack.formatArn({ service: 'kinesis', resource: 'stream', resourceName: 'events' }),
    );
    new StreamResharding(stack, 'Resharding', { stream, shardCount: 32 });

    Template.fromStack(stack).hasResource(RESOURCE, {
      DependsOn: [Match.stringLikeRegexp('^EvenShardsReshardProviderRoleDefaultPolicy')],
    });
  });

  test('has the template of the snapshot', () => {
    new UniformStream(stack, 'Events', { shardCount: 32, deployedShardCount: 4 });

    expect(readableTemplate(Template.fromStack(stack))).toMatchSnapshot();
  });
});
