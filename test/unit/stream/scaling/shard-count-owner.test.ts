import { App, Stack } from 'aws-cdk-lib';
import * as kinesis from 'aws-cdk-lib/aws-kinesis';
import { StreamAutoScaling, StreamReconciliation, StreamResharding, UniformStream } from '../../../../lib';
import { InvalidArgumentError } from '../../../../lib/core/kernel/errors';

type Own = (stream: kinesis.IStream, id: string) => unknown;

/**
 * At most one construct may set the shard count of a stream. The order of the constructs, and how they refer to the
 * stream, do not matter.
 */
describe('the construct that controls the shard count of a stream', () => {
  let stack: Stack;
  beforeEach(() => {
    stack = new Stack(new App(), 'EvenShards', { env: { account: '111111111111', region: 'eu-west-1' } });
  });

  const scaling: Own = (stream, id) => new StreamAutoScaling(stack, id, { stream, minCapacity: 1, maxCapacity: 8 });
  const resharding: Own = (stream, id) => new StreamResharding(stack, id, { stream, shardCount: 4 });
  const repair: Own = (stream, id) => new StreamReconciliation(stack, id, { stream, shardCount: 4, repair: true });
  const another: Own = (stream, id) => new StreamResharding(stack, id, { stream, shardCount: 5 });
  const report: Own = (stream, id) => new StreamReconciliation(stack, id, { stream });
  const owners = { scaling, resharding, repair, another, report };
  type Name = keyof typeof owners;

  const disagreeing: [Name, Name][] = [
    ['scaling', 'scaling'],
    ['scaling', 'resharding'],
    ['scaling', 'repair'],
    ['resharding', 'another'],
    ['repair', 'another'],
  ];

  describe.each([
    ['a stream', () => [new kinesis.Stream(stack, 'Events'), undefined]],
    [
      'a stream and an import of it',
      () => {
        const stream = new kinesis.Stream(stack, 'Events');
        return [stream, kinesis.Stream.fromStreamArn(stack, 'Imported', stream.streamArn)];
      },
    ],
    [
      'a stream of another stack and an import of it',
      () => {
        const stream = new kinesis.Stream(new Stack(stack.node.root, 'Other', { env: stack }), 'Events');
        return [stream, kinesis.Stream.fromStreamArn(stack, 'Imported', stream.streamArn)];
      },
    ],
    [
      'a stream of another stack and an import by the ARN that it will have',
      () => {
        const env = { account: '111111111111', region: 'eu-west-1' };
        const other = new Stack(stack.node.root, 'Other', { env });
        const stream = new kinesis.Stream(other, 'Events', { streamName: 'events' });
        const arn = 'arn:aws:kinesis:eu-west-1:111111111111:stream/events';
        return [stream, kinesis.Stream.fromStreamArn(stack, 'Imported', arn)];
      },
    ],
    [
      'two imports of a stream',
      () => {
        const arn = 'arn:aws:kinesis:eu-west-1:111111111111:stream/events';
        return ['Imported', 'Again'].map((id) => kinesis.Stream.fromStreamArn(stack, id, arn));
      },
    ],
  ] as [string, () => [kinesis.IStream, kinesis.IStream?]][])('for %s', (_, make) => {
    test.each([...disagreeing, ...disagreeing.map(([a, b]): [Name, Name] => [b, a])])(
      'if the stream already has the construct %s, the construct %s is rejected',
      (first, second) => {
        const [stream, same = stream] = make();
        owners[first](stream, 'First');

        expect(() => owners[second](same, 'Second')).toThrow(InvalidArgumentError);
        const add = () => owners[second](same, 'Third');
        expect(add).toThrow(
          /EvenShards\/(Second|Third): stream must be a stream whose shard count no other construct controls \(EvenShards\/First (scales the stream|keeps \d shards)\)/,
        );
      },
    );

    test.each<[Name, Name]>([
      ['resharding', 'repair'],
      ['repair', 'resharding'],
      ['scaling', 'report'],
      ['report', 'scaling'],
    ])('if the stream already has the construct %s, the construct %s is accepted', (first, second) => {
      const [stream, same = stream] = make();
      owners[first](stream, 'First');
      expect(() => owners[second](same, 'Second')).not.toThrow();
    });
  });

  test('can be a different construct for each of two streams', () => {
    scaling(new kinesis.Stream(stack, 'Events'), 'First');
    expect(() => resharding(new kinesis.Stream(stack, 'Clicks'), 'Second')).not.toThrow();
  });

  test.each<Name>(['scaling', 'resharding', 'report'])('cannot be %s for an on-demand stream', (owner) => {
    const onDemand = new kinesis.Stream(stack, 'Events', { streamMode: kinesis.StreamMode.ON_DEMAND });
    expect(() => owners[owner](onDemand, 'First')).toThrow(
      'EvenShards/First: stream.streamMode must be PROVISIONED (in on-demand mode Kinesis chooses the shards, ' +
        'and with record distribution AUTO it ignores partition keys and explicit hash keys), got "ON_DEMAND"',
    );
  });

  test.each([20, 1])(
    'rejects a declared shard count of %d, which is outside minCapacity and maxCapacity',
    (shardCount) => {
      const stream = new UniformStream(stack, 'Events', { shardCount });

      expect(() => stream.autoScaleShardCount({ minCapacity: 2, maxCapacity: 4 })).toThrow(
        `EvenShards/Events: shardCount must be from minCapacity, 2, to maxCapacity, 4 (automatic scaling keeps the count between them), got ${shardCount}`,
      );
    },
  );
});
