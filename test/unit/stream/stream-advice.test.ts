import { App, Lazy, Stack } from 'aws-cdk-lib';
import { type ExpectedStreamTraffic, UniformStream } from '../../../lib';
import { warningsOf } from '../../support/minimal-constructs';

const expectedTraffic: ExpectedStreamTraffic = { recordsPerSecond: 5_000, bytesPerSecond: 2_000_000 };

describe('UniformStream with expected traffic', () => {
  let stack: Stack;
  beforeEach(() => {
    stack = new Stack(new App(), 'EvenShards');
  });

  test('warns if the stream has too few shards, with the warning id and the shard count to set', () => {
    new UniformStream(stack, 'Events', { shardCount: 6, expectedTraffic });
    expect(warningsOf(stack)).toEqual([
      '6 shard(s) are too few for the expected traffic: set shardCount to 7 (the rule "records written" needs this count) ' +
        '[ack: cdk-even-shards:UniformStream.tooFewShards]',
    ]);
  });

  test('warns with two shard counts: with and without balanced explicit hash keys', () => {
    new UniformStream(stack, 'Events', { shardCount: 6, expectedTraffic: { ...expectedTraffic, keys: 100 } });
    expect(warningsOf(stack)).toEqual([
      expect.stringContaining(
        'set shardCount to 14 (or to 7, if every partition key has a balanced explicit hash key)',
      ),
    ]);
  });

  test('warns if one key exceeds the limits of a shard, whatever the shard count is', () => {
    new UniformStream(stack, 'Events', {
      shardCount: 100,
      expectedTraffic: { ...expectedTraffic, hottestKeyShare: 0.3 },
    });
    expect(warningsOf(stack)).toEqual([
      expect.stringMatching(/^no shard count fixes this: one key takes 150% of a shard.* \[ack: .*notFixedByShards\]$/),
    ]);
  });

  test.each([
    ['the planned shard count', { shardCount: 7, expectedTraffic }],
    ['no expected traffic', { shardCount: 1 }],
    ['a shard count that is a token', { shardCount: Lazy.number({ produce: () => 1 }), expectedTraffic }],
  ])('does not warn with %s', (_, props) => {
    new UniformStream(stack, 'Events', props);
    expect(warningsOf(stack)).toEqual([]);
  });
});
