import { App, Stack } from 'aws-cdk-lib';
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as kinesis from 'aws-cdk-lib/aws-kinesis';
import * as kms from 'aws-cdk-lib/aws-kms';
import {
  HashKeyRegistry,
  OrderedProducerFunction,
  StreamAutoScaling,
  StreamProduceGrants,
  StreamReconciliation,
  StreamReshardGrants,
  StreamResharding,
} from '../../../lib';
import { relay, warningsOf } from '../../support/minimal-constructs';

/** `EncryptedResources`, which the oldest supported aws-cdk-lib does not have. */
interface NewerIam {
  EncryptedResources?: { register(stack: Stack, type: string, factory: EncryptedResourceFactory): void };
}

interface EncryptedResourceFactory {
  forResource(resource: Pick<kinesis.CfnStream, 'env'>): {
    env: kinesis.CfnStream['env'];
    grantOnKey(grantee: iam.IGrantable, ...actions: string[]): { grant: iam.Grant };
  };
}

describe('a CfnStream', () => {
  let stack: Stack;
  let stream: kinesis.CfnStream;
  beforeEach(() => {
    stack = new Stack(new App(), 'EvenShards', { env: { account: '111111111111', region: 'eu-west-1' } });
    stream = new kinesis.CfnStream(stack, 'Events', { shardCount: 4 });
  });

  const role = () => new iam.Role(stack, 'Role', { assumedBy: new iam.AccountRootPrincipal() });
  const allowed = (action: string) =>
    Template.fromStack(stack).hasResourceProperties('AWS::IAM::Policy', {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({
            Action: Match.arrayWith([action]),
            Resource: { 'Fn::GetAtt': ['Events', 'Arn'] },
          }),
        ]),
      },
    });

  test.each<[string, string, () => unknown]>([
    ['StreamProduceGrants', 'kinesis:PutRecords', () => StreamProduceGrants.fromStream(stream).produce(role())],
    ['StreamReshardGrants', 'kinesis:SplitShard', () => StreamReshardGrants.fromStream(stream).reshard(role())],
    ['OrderedProducerFunction', 'kinesis:PutRecords', () => new OrderedProducerFunction(stack, 'It', { stream })],
    ['StreamResharding', 'kinesis:SplitShard', () => new StreamResharding(stack, 'It', { stream, shardCount: 8 })],
    [
      'StreamReconciliation',
      'kinesis:ListShards',
      () => new StreamReconciliation(stack, 'It', { stream, shardCount: 4, repair: true }),
    ],
    [
      'StreamAutoScaling',
      'kinesis:UpdateShardCount',
      () => new StreamAutoScaling(stack, 'It', { stream, minCapacity: 2, maxCapacity: 8 }),
    ],
    ['OutboxRelayFunction', 'kinesis:PutRecords', () => relay(stack, { stream })],
  ])('is accepted by %s', (_, action, make) => {
    make();

    allowed(action);
  });

  test('is accepted by HashKeyRegistry, and by a producer that uses this registry', () => {
    const hashKeyRegistry = new HashKeyRegistry(stack, 'Registry', { stream });
    new OrderedProducerFunction(stack, 'Producer', { stream, hashKeyRegistry });
    const another = new kinesis.CfnStream(stack, 'Others', { shardCount: 4 });

    allowed('kinesis:PutRecords');
    expect(() => new OrderedProducerFunction(stack, 'Wrong', { stream: another, hashKeyRegistry })).toThrow(
      'hashKeyRegistry must be a registry of the stream EvenShards/Others, got "EvenShards/Events"',
    );
  });

  test('is rejected if its mode is on-demand, or if another construct owns its shard count', () => {
    const onDemand = new kinesis.CfnStream(stack, 'OnDemand', { streamModeDetails: { streamMode: 'ON_DEMAND' } });
    expect(() => new StreamResharding(stack, 'Resharding', { stream: onDemand, shardCount: 4 })).toThrow(
      'EvenShards/Resharding: stream.streamMode must be PROVISIONED',
    );

    new StreamReconciliation(stack, 'Repair', { stream, shardCount: 4, repair: true });
    expect(() => new StreamAutoScaling(stack, 'Scaling', { stream, minCapacity: 1, maxCapacity: 8 })).toThrow(
      'a stream whose shard count no other construct controls (EvenShards/Repair keeps 4 shards)',
    );
  });

  test.each([
    ['with no key', undefined],
    ['with the key that AWS manages', { encryptionType: 'KMS', keyId: 'alias/aws/kinesis' }],
  ])('%s needs no grant on a key', (_, streamEncryption) => {
    stream.streamEncryption = streamEncryption;
    StreamProduceGrants.fromStream(stream).produce(role());

    expect(warningsOf(stack)).toEqual([]);
    expect(JSON.stringify(Template.fromStack(stack))).not.toContain('kms:');
  });

  test('with a customer-managed key, gives a warning that the role needs a grant on the key', () => {
    stream.streamEncryption = { encryptionType: 'KMS', keyId: new kms.Key(stack, 'Key').keyArn };
    StreamProduceGrants.fromStream(stream).produce(role());

    Annotations.fromStack(stack).hasWarning(
      '/EvenShards/Events',
      Match.stringLikeRegexp('cannot allow kms:GenerateDataKey on the key of the stream'),
    );
  });

  const { EncryptedResources } = iam as NewerIam;
  const testOfNewerCdk = EncryptedResources === undefined ? test.skip : test;
  testOfNewerCdk('with a key that is registered in EncryptedResources, gets the grant on the key', () => {
    const key = new kms.Key(stack, 'Key');
    stream.streamEncryption = { encryptionType: 'KMS', keyId: key.keyArn };
    EncryptedResources?.register(stack, 'AWS::Kinesis::Stream', {
      forResource: (resource) => ({
        env: resource.env,
        grantOnKey: (grantee, ...actions) => ({ grant: key.grant(grantee, ...actions) }),
      }),
    });
    StreamProduceGrants.fromStream(stream).produce(role());

    expect(warningsOf(stack)).toEqual([]);
    expect(JSON.stringify(Template.fromStack(stack))).toContain('kms:GenerateDataKey');
  });
});
