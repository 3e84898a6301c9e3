import fs from 'node:fs';
import { App, CfnParameter, Duration, Size, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import * as kinesis from 'aws-cdk-lib/aws-kinesis';
import { HashKeyRegistry, OrderedProducerFunction, UniformStream } from '../../../../lib';
import { InvalidArgumentError } from '../../../../lib/core/kernel/errors';

describe('OrderedProducerFunction', () => {
  let stack: Stack;
  beforeEach(() => {
    stack = new Stack(new App(), 'EvenShards');
  });

  test.each([
    ['neither', {}, {}],
    ['both', { aggregation: true, sequence: true }, { EVEN_SHARDS_AGGREGATION: 'true', EVEN_SHARDS_SEQUENCE: 'true' }],
    ['neither if both are off', { aggregation: false, sequence: false }, {}],
    [
      'packs',
      { aggregationAcrossKeys: true, hashBuckets: 64 },
      { EVEN_SHARDS_AGGREGATION: 'packed', EVEN_SHARDS_HASH_BUCKETS: '64' },
    ],
    [
      'packs that wait for company, and requests that do not wait for long',
      { aggregationAcrossKeys: true, linger: Duration.millis(5), requestTimeout: Duration.seconds(2) },
      { EVEN_SHARDS_AGGREGATION: 'packed', EVEN_SHARDS_LINGER_MS: '5', EVEN_SHARDS_REQUEST_TIMEOUT_MS: '2000' },
    ],
  ])('is told of aggregation and sequences: %s', (_, props, variables) => {
    const stream = new UniformStream(stack, 'Events', { shardCount: 4 });
    new OrderedProducerFunction(stack, 'Producer', { stream, ...props });

    Template.fromStack(stack).hasResourceProperties('AWS::Lambda::Function', {
      Environment: { Variables: Match.objectEquals({ EVEN_SHARDS_STREAM_NAME: Match.anyValue(), ...variables }) },
    });
  });

  test('takes over the hash buckets of its stream, and refuses others', () => {
    const stream = new UniformStream(stack, 'Events', { shardCount: 4, hashBuckets: 16 });
    new OrderedProducerFunction(stack, 'Producer', { stream });
    Template.fromStack(stack).hasResourceProperties('AWS::Lambda::Function', {
      Environment: { Variables: { EVEN_SHARDS_HASH_BUCKETS: '16' } },
    });
    expect(() => new OrderedProducerFunction(stack, 'Other', { stream, hashBuckets: 32 })).toThrow(
      'hashBuckets must be absent, or the 16 of the stream, got 32',
    );
  });

  describe('and the record size limit of its stream', () => {
    const construct = (maxRecordSize?: Size, ofStream: Size | undefined = maxRecordSize && Size.mebibytes(10)) => {
      const props = { shardCount: 4, ...(ofStream && { maxRecordSize: ofStream }) };
      const stream = new UniformStream(stack, 'Events', props);
      return new OrderedProducerFunction(stack, 'Producer', { stream, maxRecordSize });
    };
    const expectLimit = (limit: unknown) =>
      Template.fromStack(stack).hasResourceProperties('AWS::Lambda::Function', {
        Environment: { Variables: { EVEN_SHARDS_STREAM_NAME: Match.anyValue(), EVEN_SHARDS_MAX_RECORD_BYTES: limit } },
      });

    test.each([
      ['1 MiB', Size.mebibytes(1), Size.mebibytes(1), '1048576'],
      ['1.5 MiB', Size.mebibytes(1.5), Size.mebibytes(10), '1572864'],
      ['that of the stream', undefined, Size.mebibytes(4), '4194304'],
      ['a smaller one than that of the stream', Size.mebibytes(2), Size.mebibytes(4), '2097152'],
      ['1 MiB, which a stream without a limit has', Size.mebibytes(1), undefined, '1048576'],
    ])('is told %s', (_, maxRecordSize, ofStream, bytes) => {
      construct(maxRecordSize, ofStream ?? Size.mebibytes(1));

      expectLimit(bytes);
    });

    test('is told none where only the deployment knows the limit of the stream', () => {
      const parameter = new CfnParameter(stack, 'Limit', { type: 'Number' });
      construct(undefined, Size.kibibytes(parameter.valueAsNumber));

      expectLimit(Match.absent());
    });

    test('is given a larger one before the stream is', () => {
      const stream = new kinesis.Stream(stack, 'Events');
      new OrderedProducerFunction(stack, 'Producer', { stream, maxRecordSize: Size.mebibytes(2) });
      (stream.node.defaultChild as kinesis.CfnStream).addPropertyOverride('MaxRecordSizeInKiB', 2_048);

      expectLimit('2097152');
    });

    test('is told any of an imported stream, whose limit nobody knows', () => {
      const stream = kinesis.Stream.fromStreamArn(stack, 'Events', 'arn:aws:kinesis:eu-west-1:1:stream/events');
      new OrderedProducerFunction(stack, 'Producer', { stream, maxRecordSize: Size.mebibytes(10) });

      expectLimit('10485760');
    });

    test.each([
      ['that it was given', Size.mebibytes(4), 4_194_304],
      ['of every stream', undefined, 1_048_576],
    ])('fails for a larger limit than the one of the stream, %s', (_, ofStream, bytes) => {
      const stream = new UniformStream(stack, 'Events', {
        shardCount: 4,
        ...(ofStream && { maxRecordSize: ofStream }),
      });
      const make = () => {
        new OrderedProducerFunction(stack, 'Producer', { stream, maxRecordSize: Size.mebibytes(5) });
        Template.fromStack(stack);
      };

      expect(make).toThrow(
        `EvenShards/Producer: maxRecordSize must be at most ${bytes} bytes, the limit of the stream EvenShards/Events: ` +
          'increase its maxRecordSize, too, got "5242880 bytes"',
      );
    });
  });

  describe('and the record distribution of its stream', () => {
    const message =
      'EvenShards/Producer: stream.recordDistributionStrategy must be USER_PARTITION_KEY, for with AUTO Kinesis ' +
      'ignores partition keys and explicit hash keys and keeps no order, got "AUTO"';

    function onDemandStream(strategy?: string): kinesis.Stream {
      const stream = new kinesis.Stream(stack, 'Events', { streamMode: kinesis.StreamMode.ON_DEMAND });
      if (strategy) setStrategy(stream, strategy);
      return stream;
    }

    function setStrategy(stream: kinesis.Stream, strategy: string): void {
      (stream.node.defaultChild as kinesis.CfnStream).addPropertyOverride('RecordDistributionStrategy', strategy);
    }

    test('fails for a stream whose records Kinesis distributes itself', () => {
      const stream = onDemandStream('AUTO');

      const construct = (id: string) => () => new OrderedProducerFunction(stack, id, { stream });
      expect(construct('Producer')).toThrow(message);
      expect(construct('Again')).toThrow(InvalidArgumentError);
    });

    test('fails at synthesis if that is set later', () => {
      const stream = onDemandStream();
      new OrderedProducerFunction(stack, 'Producer', { stream });
      setStrategy(stream, 'AUTO');

      expect(() => Template.fromStack(stack)).toThrow(message);
    });

    test.each([undefined, 'USER_PARTITION_KEY'])('accepts an on-demand stream with the strategy %s', (strategy) => {
      new OrderedProducerFunction(stack, 'Producer', { stream: onDemandStream(strategy) });

      expect(() => Template.fromStack(stack)).not.toThrow();
    });
  });

  describe('with a hash key registry', () => {
    const construct = (allocateHashKeys?: boolean) => {
      const stream = new UniformStream(stack, 'Events', { shardCount: 4 });
      const hashKeyRegistry = new HashKeyRegistry(stack, 'Registry', { stream });
      new OrderedProducerFunction(stack, 'Producer', { stream, hashKeyRegistry, allocateHashKeys });
      return hashKeyRegistry;
    };

    test.each([
      [undefined, 'true', ':allocate'],
      [true, 'true', ':allocate'],
      [false, 'false', ':query'],
    ])('and allocateHashKeys %p is told whom to ask, and may, and no more', (allocateHashKeys, text) => {
      const registry = construct(allocateHashKeys);

      const template = Template.fromStack(stack);
      template.hasResourceProperties('AWS::Lambda::Function', {
        Environment: {
          Variables: {
            EVEN_SHARDS_STREAM_NAME: Match.anyValue(),
            EVEN_SHARDS_REGISTRY_FUNCTION_NAME: stack.resolve(registry.function.functionName),
            EVEN_SHARDS_ALLOCATE_HASH_KEYS: text,
          },
        },
      });
    });
  });

  test('fails with the way out if the bundle was not built', () => {
    const exists = jest.spyOn(fs, 'existsSync').mockReturnValue(false);
    try {
      const stream = new UniformStream(stack, 'Events', { shardCount: 4 });
      expect(() => new OrderedProducerFunction(stack, 'Producer', { stream })).toThrow(
        'EvenShards/Producer: dist/lambda/producer/index.js is missing, run "npm run build" to make it',
      );
    } finally {
      exists.mockRestore();
    }
  });
});
