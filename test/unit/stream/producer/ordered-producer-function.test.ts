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
      'aggregation across keys',
      { aggregationAcrossKeys: true, hashBuckets: 64 },
      { EVEN_SHARDS_AGGREGATION: 'packed', EVEN_SHARDS_HASH_BUCKETS: '64' },
    ],
    [
      'aggregation across keys with linger and a request timeout',
      { aggregationAcrossKeys: true, linger: Duration.millis(5), requestTimeout: Duration.seconds(2) },
      { EVEN_SHARDS_AGGREGATION: 'packed', EVEN_SHARDS_LINGER_MS: '5', EVEN_SHARDS_REQUEST_TIMEOUT_MS: '2000' },
    ],
  ])('passes aggregation and sequence settings to the function: %s', (_, props, variables) => {
    const stream = new UniformStream(stack, 'Events', { shardCount: 4 });
    new OrderedProducerFunction(stack, 'Producer', { stream, ...props });

    Template.fromStack(stack).hasResourceProperties('AWS::Lambda::Function', {
      Environment: { Variables: Match.objectEquals({ EVEN_SHARDS_STREAM_NAME: Match.anyValue(), ...variables }) },
    });
  });

  test('uses the number of hash buckets of its stream, and rejects another number', () => {
    const stream = new UniformStream(stack, 'Events', { shardCount: 4, hashBuckets: 16 });
    new OrderedProducerFunction(stack, 'Producer', { stream });
    Template.fromStack(stack).hasResourceProperties('AWS::Lambda::Function', {
      Environment: { Variables: { EVEN_SHARDS_HASH_BUCKETS: '16' } },
    });
    expect(() => new OrderedProducerFunction(stack, 'Other', { stream, hashBuckets: 32 })).toThrow(
      'hashBuckets must be absent, or 16 (the hashBuckets of the stream), got 32',
    );
  });

  describe('the record size limit', () => {
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
      ['the limit of the stream', undefined, Size.mebibytes(4), '4194304'],
      ['a maxRecordSize below the limit of the stream', Size.mebibytes(2), Size.mebibytes(4), '2097152'],
      ['1 MiB, which a stream without a limit has', Size.mebibytes(1), undefined, '1048576'],
    ])('in the environment of the function is %s', (_, maxRecordSize, ofStream, bytes) => {
      construct(maxRecordSize, ofStream ?? Size.mebibytes(1));

      expectLimit(bytes);
    });

    test('is absent from the function if the limit of the stream is a token', () => {
      const parameter = new CfnParameter(stack, 'Limit', { type: 'Number' });
      construct(undefined, Size.kibibytes(parameter.valueAsNumber));

      expectLimit(Match.absent());
    });

    test('can be increased in the producer before an escape hatch increases the limit of the stream', () => {
      const stream = new kinesis.Stream(stack, 'Events');
      new OrderedProducerFunction(stack, 'Producer', { stream, maxRecordSize: Size.mebibytes(2) });
      (stream.node.defaultChild as kinesis.CfnStream).addPropertyOverride('MaxRecordSizeInKiB', 2_048);

      expectLimit('2097152');
    });

    test('can have any allowed value for an imported stream, whose limit is unknown', () => {
      const stream = kinesis.Stream.fromStreamArn(stack, 'Events', 'arn:aws:kinesis:eu-west-1:1:stream/events');
      new OrderedProducerFunction(stack, 'Producer', { stream, maxRecordSize: Size.mebibytes(10) });

      expectLimit('10485760');
    });

    test.each([
      ['a stream with maxRecordSize', Size.mebibytes(4), 4_194_304],
      ['a stream without maxRecordSize', undefined, 1_048_576],
    ])('cannot be higher than the limit of the stream: %s', (_, ofStream, bytes) => {
      const stream = new UniformStream(stack, 'Events', {
        shardCount: 4,
        ...(ofStream && { maxRecordSize: ofStream }),
      });
      const make = () => {
        new OrderedProducerFunction(stack, 'Producer', { stream, maxRecordSize: Size.mebibytes(5) });
        Template.fromStack(stack);
      };

      expect(make).toThrow(
        `EvenShards/Producer: maxRecordSize must be at most ${bytes} bytes, the limit of the stream EvenShards/Events ` +
          '(also increase the maxRecordSize of the stream), got "5242880 bytes"',
      );
    });
  });

  describe('the record distribution strategy AUTO of the stream', () => {
    const message =
      'EvenShards/Producer: stream.recordDistributionStrategy must be USER_PARTITION_KEY (with AUTO, Kinesis ' +
      'ignores partition keys and explicit hash keys and keeps no order), got "AUTO"';

    function onDemandStream(strategy?: string): kinesis.Stream {
      const stream = new kinesis.Stream(stack, 'Events', { streamMode: kinesis.StreamMode.ON_DEMAND });
      if (strategy) setStrategy(stream, strategy);
      return stream;
    }

    function setStrategy(stream: kinesis.Stream, strategy: string): void {
      (stream.node.defaultChild as kinesis.CfnStream).addPropertyOverride('RecordDistributionStrategy', strategy);
    }

    test('is rejected when the producer is created', () => {
      const stream = onDemandStream('AUTO');

      const construct = (id: string) => () => new OrderedProducerFunction(stack, id, { stream });
      expect(construct('Producer')).toThrow(message);
      expect(construct('Again')).toThrow(InvalidArgumentError);
    });

    test('is rejected at synthesis if an escape hatch sets AUTO after the producer was created', () => {
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
      [undefined, 'true'],
      [true, 'true'],
      [false, 'false'],
    ])(
      'passes the name of the registry and allocateHashKeys to the function: allocateHashKeys %p',
      (allocateHashKeys, text) => {
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
      },
    );
  });

  test('fails with an error that contains the build command if the bundle is missing', () => {
    const exists = jest.spyOn(fs, 'existsSync').mockReturnValue(false);
    try {
      const stream = new UniformStream(stack, 'Events', { shardCount: 4 });
      expect(() => new OrderedProducerFunction(stack, 'Producer', { stream })).toThrow(
        'EvenShards/Producer: dist/lambda/producer/index.js is missing, run "npm run build" to create it',
      );
    } finally {
      exists.mockRestore();
    }
  });
});
