import { readFileSync } from 'node:fs';
import { type ShardedConfig, type ShardedKeyspacesConfig, shardAttributes, shardColumns } from '../../../lib/core';
import { given, shardedItemVectors } from '../../../scripts/vectors/sharded-items';
import { givenRow, shardedRowVectors } from '../../../scripts/vectors/sharded-rows';
import { VECTORS, vectorText } from '../../../scripts/vectors/vectors';

test.each(Object.entries(VECTORS))('%s has the test vectors that npm run docs:vectors writes', (file, vectors) => {
  expect(readFileSync(file, 'utf8')).toBe(vectorText(vectors()));
});

test.each(shardedItemVectors().refused)(
  'shardAttributes rejects the $field of a test vector that must be rejected',
  ({ config, item, field }) => {
    expect(() => shardAttributes(config as ShardedConfig, given(item))).toThrow(field);
  },
);

test.each(shardedRowVectors().refused)(
  'shardColumns rejects the $field of a test vector that must be rejected',
  ({ config, row, field }) => {
    const rows = config as ShardedKeyspacesConfig;
    expect(() => shardColumns(rows, givenRow(rows, row))).toThrow(field);
  },
);
