import { App, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as kinesis from 'aws-cdk-lib/aws-kinesis';
import { StreamReshardGrants, UniformStream } from '../../../lib';

describe('StreamReshardGrants', () => {
  const streamArn = 'arn:aws:kinesis:eu-west-1:111111111111:stream/events';
  let stack: Stack;
  let grantee: iam.Role;
  beforeEach(() => {
    stack = new Stack(new App(), 'EvenShards');
    grantee = new iam.Role(stack, 'Role', { assumedBy: new iam.AccountRootPrincipal() });
  });

  function expectActions(actions: string[], resource: unknown): void {
    Template.fromStack(stack).hasResourceProperties('AWS::IAM::Policy', {
      PolicyDocument: Match.objectEquals({
        Version: '2012-10-17',
        Statement: [{ Effect: 'Allow', Action: actions.map((action) => `kinesis:${action}`), Resource: resource }],
      }),
    });
  }

  test.each([
    ['inspect', ['DescribeStreamSummary', 'ListShards', 'ListTagsForStream']],
    ['scale', ['DescribeStreamSummary', 'ListTagsForStream', 'AddTagsToStream', 'UpdateShardCount']],
    [
      'reshard',
      [
        'DescribeStreamSummary',
        'ListShards',
        'ListTagsForStream',
        'AddTagsToStream',
        'UpdateShardCount',
        'SplitShard',
        'MergeShards',
      ],
    ],
  ] as const)('allow to %s exactly one stream, imported ones included', (kind, actions) => {
    const imported = kinesis.Stream.fromStreamArn(stack, 'Imported', streamArn);

    expect(StreamReshardGrants.fromStream(imported)[kind](grantee).success).toBe(true);

    expectActions([...actions], streamArn);
  });

  test('are what a UniformStream has to give', () => {
    const stream = new UniformStream(stack, 'Events', { shardCount: 4 });

    stream.reshardGrants.inspect(grantee);

    expectActions(['DescribeStreamSummary', 'ListShards', 'ListTagsForStream'], stack.resolve(stream.streamArn));
  });
});
