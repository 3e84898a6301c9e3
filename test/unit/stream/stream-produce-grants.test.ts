import { App, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as kinesis from 'aws-cdk-lib/aws-kinesis';
import * as kms from 'aws-cdk-lib/aws-kms';
import { StreamProduceGrants, UniformStream } from '../../../lib';

/** Writing, and asking for the shards whose limits it keeps to. */
const ACTIONS = ['kinesis:PutRecords', 'kinesis:ListShards'];

describe('StreamProduceGrants', () => {
  let stack: Stack;
  let grantee: iam.Role;
  beforeEach(() => {
    stack = new Stack(new App(), 'EvenShards');
    grantee = new iam.Role(stack, 'Role', { assumedBy: new iam.AccountRootPrincipal() });
  });

  function expectStatements(statements: unknown[]): void {
    const template = Template.fromStack(stack);
    template.resourceCountIs('AWS::IAM::Policy', 1);
    template.hasResourceProperties('AWS::IAM::Policy', {
      PolicyDocument: Match.objectEquals({ Version: '2012-10-17', Statement: statements }),
    });
  }

  test('allow what a producer calls on exactly this stream, and nothing on the key that AWS manages', () => {
    const stream = new UniformStream(stack, 'Events', { shardCount: 4 });

    const grant = stream.produceGrants.produce(grantee);

    expect(grant.success).toBe(true);
    expectStatements([{ Effect: 'Allow', Action: ACTIONS, Resource: stack.resolve(stream.streamArn) }]);
  });

  test('allow GenerateDataKey on a customer-managed key', () => {
    const encryptionKey = new kms.Key(stack, 'Key');
    const stream = new UniformStream(stack, 'Events', { shardCount: 4, encryptionKey });

    stream.produceGrants.produce(grantee);

    expectStatements([
      { Effect: 'Allow', Action: ACTIONS, Resource: stack.resolve(stream.streamArn) },
      { Effect: 'Allow', Action: 'kms:GenerateDataKey', Resource: stack.resolve(encryptionKey.keyArn) },
    ]);
  });

  test('work for an imported stream and its key', () => {
    const streamArn = 'arn:aws:kinesis:eu-west-1:111111111111:stream/events';
    const keyArn = 'arn:aws:kms:eu-west-1:111111111111:key/1234abcd-12ab-34cd-56ef-1234567890ab';
    const stream = kinesis.Stream.fromStreamAttributes(stack, 'Imported', {
      streamArn,
      encryptionKey: kms.Key.fromKeyArn(stack, 'Key', keyArn),
    });

    StreamProduceGrants.fromStream(stream).produce(grantee);

    expectStatements([
      { Effect: 'Allow', Action: ACTIONS, Resource: streamArn },
      { Effect: 'Allow', Action: 'kms:GenerateDataKey', Resource: keyArn },
    ]);
  });
});
