import { hashPartitionKey } from '../../../../lib/core';
import { Placement } from '../../../../lib/core/producer/placement';

test('finds the hash key of each key, however much it is like the keys before', () => {
  const placement = new Placement({ hashBuckets: undefined });
  for (const partitionKey of ['ab', 'b', 'a', 'ab', 'éb', 'b', 'k'.repeat(256), 'k'.repeat(85)]) {
    expect(placement.hashKeyOf({ partitionKey })).toBe(hashPartitionKey(partitionKey));
  }
});
