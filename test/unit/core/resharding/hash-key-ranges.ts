import fc from 'fast-check';
import { HASH_KEY_SPACE, type HashKeyRange, uniformRanges } from '../../../../lib/core';
import type { ReshardOperation } from '../../../../lib/core/resharding/plan-stream-reshard';

/** The ranges between boundaries. Each range except the first starts at a boundary. */
export function rangesBetween(boundaries: readonly bigint[]): HashKeyRange[] {
  const starts = [0n, ...boundaries];
  return starts.map((startingHashKey, index) => ({
    startingHashKey,
    endingHashKey: (starts[index + 1] ?? HASH_KEY_SPACE) - 1n,
  }));
}

/** Any ranges that cover the hash key space, random or nearly even. */
export const anyRanges = fc.oneof(
  fc
    .uniqueArray(fc.bigInt({ min: 1n, max: HASH_KEY_SPACE - 1n }), { maxLength: 40 })
    .map((boundaries) => rangesBetween(boundaries.sort((a, b) => (a < b ? -1 : 1)))),
  fc.tuple(fc.integer({ min: 1, max: 40 }), fc.array(fc.bigInt({ min: -2n, max: 2n }))).map(([count, shifts]) =>
    rangesBetween(
      uniformRanges(count)
        .slice(1)
        .map(({ startingHashKey }, index) => startingHashKey + (shifts[index] ?? 0n)),
    ),
  ),
);

/** The ranges after an operation. Fails for an operation that Kinesis rejects, such as a merge across a gap. */
export function afterOperation(ranges: readonly HashKeyRange[], operation: ReshardOperation): HashKeyRange[] {
  if (operation.type === 'update') {
    expect(operation.shardCount).toBeLessThanOrEqual(2 * ranges.length);
    expect(2 * operation.shardCount).toBeGreaterThanOrEqual(ranges.length);
    return uniformRanges(operation.shardCount);
  }
  const boundaries = ranges.slice(1).map(({ startingHashKey }) => startingHashKey);
  if (operation.type === 'merge') {
    expect(ranges).toContainEqual(operation.left);
    expect(ranges).toContainEqual(operation.right);
    expect(operation.right.startingHashKey).toBe(operation.left.endingHashKey + 1n);
    return rangesBetween(boundaries.filter((boundary) => boundary !== operation.right.startingHashKey));
  }
  expect(ranges).toContainEqual(operation.range);
  expect(operation.at > operation.range.startingHashKey + 1n && operation.at < operation.range.endingHashKey).toBe(
    true,
  );
  return rangesBetween([...boundaries, operation.at].sort((a, b) => (a < b ? -1 : 1)));
}
