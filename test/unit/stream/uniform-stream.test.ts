import { App, Duration, Lazy, RemovalPolicy, Size, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import * as kinesis from 'aws-cdk-lib/aws-kinesis';
import * as kms from 'aws-cdk-lib/aws-kms';
import { StreamReshardingProvider, UniformStream } from '../../../lib';

describe('UniformStream', () => {
  let stack: Stack;
  beforeEach(() => {
    stack = new Stack(new App(), 'EvenShards');
  });

  test('creates a provisioned stream with the given number of shards, and no custom resource', () => {
    const stream = new UniformStream(stack, 'Events', { shardCount: 4 });

    expect(stream).toMatchObject({ shardCount: 4, resharding: undefined });
    const template = Template.fromStack(stack);
    template.hasResourceProperties('AWS::Kinesis::Stream', {
      ShardCount: 4,
      StreamModeDetails: { StreamMode: 'PROVISIONED' },
    });
    template.resourceCountIs('AWS::Lambda::Function', 0);
  });

  test('has the hash buckets of its props, or no hash buckets by default', () => {
    expect(new UniformStream(stack, 'Events', { shardCount: 4, hashBuckets: 16 }).hashBuckets).toBe(16);
    expect(new UniformStream(stack, 'Others', { shardCount: 4 }).hashBuckets).toBeUndefined();
  });

  test('without props – throws an error that names the stream', () => {
    expect(() => new UniformStream(stack, 'Events', undefined as never)).toThrow(
      '[INVALID_ARGUMENT] EvenShards/Events: props must be an object with a shardCount, got undefined',
    );
  });

  test.each<[string, (stream: UniformStream) => unknown]>([
    ['autoScaleShardCount', (stream) => stream.autoScaleShardCount({ minCapacity: 2, maxCapacity: 8 })],
    ['addReconciliation', (stream) => stream.addReconciliation()],
  ])('%s – a second call – throws an error that names the stream and the method', (method, add) => {
    const stream = new UniformStream(stack, 'Events', { shardCount: 4 });
    add(stream);
    expect(() => add(stream)).toThrow(
      `[INVALID_ARGUMENT] EvenShards/Events: ${method} must be called only once for a stream, got "a second call"`,
    );
  });

  describe('imported', () => {
    const streamArn = 'arn:aws:kinesis:eu-west-1:111111111111:stream/events';
    const imported = (attributes: object, id = 'Imported') =>
      UniformStream.fromUniformStreamAttributes(stack, id, { streamArn, ...attributes });

    test('has the given attributes and adds nothing to the template', () => {
      const encryptionKey = kms.Key.fromKeyArn(stack, 'Key', 'arn:aws:kms:eu-west-1:111111111111:key/1');
      const maxRecordSize = Size.mebibytes(2);

      expect(imported({ encryptionKey, hashBuckets: 16, maxRecordSize })).toMatchObject({
        streamName: 'events',
        encryptionKey,
        hashBuckets: 16,
        maxRecordSize,
        env: { account: '111111111111', region: 'eu-west-1' },
      });
      expect(Template.fromStack(stack).toJSON()).not.toHaveProperty('Resources');
    });
  });

  test('is encrypted with the given customer-managed key', () => {
    const encryptionKey = new kms.Key(stack, 'Key');
    const stream = new UniformStream(stack, 'Events', { shardCount: 4, encryptionKey });

    expect(stream.encryptionKey).toBe(encryptionKey);
    Template.fromStack(stack).hasResourceProperties('AWS::Kinesis::Stream', {
      StreamEncryption: { EncryptionType: 'KMS', KeyId: stack.resolve(encryptionKey.keyArn) },
    });
  });

  test.each([
    ['1 MiB', Size.mebibytes(1), 1_024],
    ['2.5 MiB', Size.mebibytes(2.5), 2_560],
    ['10 MiB', Size.bytes(10 * 1024 * 1024), 10_240],
    ['a size that is a token', Size.kibibytes(Lazy.number({ produce: () => 4_096 })), 4_096],
  ])('has a record size limit of %s', (_, maxRecordSize, kibibytes) => {
    expect(new UniformStream(stack, 'Events', { shardCount: 4, maxRecordSize }).maxRecordSize).toBe(maxRecordSize);

    Template.fromStack(stack).hasResourceProperties('AWS::Kinesis::Stream', { MaxRecordSizeInKiB: kibibytes });
  });

  test.each([
    ['is retained by default', undefined, 'Retain'],
    ['is deleted with removalPolicy DESTROY', RemovalPolicy.DESTROY, 'Delete'],
  ])('%s', (_, removalPolicy, policy) => {
    new UniformStream(stack, 'Events', { shardCount: 4, removalPolicy });

    Template.fromStack(stack).hasResource('AWS::Kinesis::Stream', {
      DeletionPolicy: policy,
      UpdateReplacePolicy: policy,
    });
  });

  test('passes the name, the retention period and the shard-level metrics on to the stream', () => {
    new UniformStream(stack, 'Events', {
      shardCount: 4,
      streamName: 'events',
      retentionPeriod: Duration.days(7),
      shardLevelMetrics: [kinesis.ShardLevelMetrics.INCOMING_BYTES],
    });

    Template.fromStack(stack).hasResourceProperties('AWS::Kinesis::Stream', {
      Name: 'events',
      RetentionPeriodHours: 168,
      DesiredShardLevelMetrics: ['IncomingBytes'],
    });
  });

  test('with a deployedShardCount, keeps this count in the stream resource, and a custom resource has the new count', () => {
    const stream = new UniformStream(stack, 'Events', { shardCount: 32, deployedShardCount: 4 });

    expect(stream.shardCount).toBe(32);
    const template = Template.fromStack(stack);
    template.hasResourceProperties('AWS::Kinesis::Stream', { ShardCount: 4 });
    template.hasResourceProperties('Custom::EvenShardsStreamShardCount', { ShardCount: 32 });
  });

  test('rejects a resharding provider if deployedShardCount is absent', () => {
    const reshardingProvider = new StreamReshardingProvider(stack, 'Provider');
    expect(() => new UniformStream(stack, 'Events', { shardCount: 4, reshardingProvider })).toThrow(
      'EvenShards/Events: reshardingProvider must be absent without a deployedShardCount (only the custom resource uses a provider), got "EvenShards/Provider"',
    );
  });
});
