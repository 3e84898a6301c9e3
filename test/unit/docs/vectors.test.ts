import { readFileSync } from 'node:fs';
import { type ShardedConfig, shardAttributes } from '../../../lib/core';
import { given, shardedItemVectors } from '../../../scripts/vectors/sharded-items';
import { VECTORS, vectorText } from '../../../scripts/vectors/vectors';

test.each(Object.entries(VECTORS))(
  '%s holds what the core computes: npm run docs:vectors writes it',
  (file, vectors) => {
    expect(readFileSync(file, 'utf8')).toBe(vectorText(vectors()));
  },
);

test.each(shardedItemVectors().refused)('the core refuses the $field, too', ({ config, item, field }) => {
  expect(() => shardAttributes(config as ShardedConfig, given(item))).toThrow(field);
});
