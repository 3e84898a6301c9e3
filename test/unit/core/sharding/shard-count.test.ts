import { checkIndexShardCount, checkStreamShardCount } from '../../../../lib/core/sharding/shard-count';

describe('shard counts', () => {
  test.each([
    ['checkStreamShardCount', checkStreamShardCount, 'the most shards of a Kinesis stream'],
    ['checkIndexShardCount', checkIndexShardCount, 'a query reads every shard for each page'],
  ])(
    '%s accepts whole numbers up to its maximum, and its error contains the reason for the maximum',
    (_, check, reason) => {
      for (const count of [1, 10_000]) expect(() => check('shards', count)).not.toThrow();
      expect(() => check('shards', 5, 5)).not.toThrow();
      expect(() => check('shards', 10_001)).toThrow(
        `shards must be a whole number from 1 to 10000 (${reason}), got 10001`,
      );
      for (const count of [0, 1.5, '5']) {
        expect(() => check('shards', count)).toThrow(/from 1 to 10000, got/);
      }
      expect(() => check('shards', 6, 5)).toThrow('shards must be a whole number from 1 to 5, got 6');
    },
  );
});
