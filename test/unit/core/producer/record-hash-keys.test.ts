import { hashPartitionKey } from '../../../../lib/core';
import { RecordHashKeys } from '../../../../lib/core/producer/record-hash-keys';

test('finds the hash key of each key, however much it is like the keys before', () => {
  const hashKeys = new RecordHashKeys({ hashBuckets: undefined });
  for (const partitionKey of ['ab', 'b', 'a', 'ab', 'éb', 'b', 'k'.repeat(256), 'k'.repeat(85)]) {
    expect(hashKeys.hashKeyOf({ partitionKey })).toBe(hashPartitionKey(partitionKey));
  }
});
