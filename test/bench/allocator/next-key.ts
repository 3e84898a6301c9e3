import { BalancedKeyAllocator, balancedKey, HASH_KEY_SPACE, uniformRanges } from '../../../lib/core';
import { printTable } from '../../support/tables/producer/table';
import { milliseconds } from './measure';
import { nextBalancedAvailableKey, seedTree } from './seed-tree';

const KEYS = [1_000, 10_000, 100_000, 1_000_000];
const RUNS = 5;

/**
 * Measures the microseconds to allocate the next key, after several numbers of keys. Compares the allocator with the
 * tree of "Kinesis Hash Key Space Partitioning".
 */
export function benchNextKey(): void {
  const rows = KEYS.map((size) => {
    const baseline = baselineMicroseconds(size);
    const times = [undefined, uniformRanges(48)].map((ranges) =>
      allocatorMicroseconds(new BalancedKeyAllocator({ ranges }), size),
    );
    const cells = times.flatMap((time) => [readable(time), Math.round(baseline / time).toLocaleString('en-US')]);
    return [size.toLocaleString('en-US'), readable(baseline), ...cells];
  });
  const header = ['keys', 'next key, baseline', 'next key', 'ratio', 'with 48 shards', 'ratio'];
  printTable(header, rows);
}

function baselineMicroseconds(size: number): number {
  let tree = seedTree(Array.from({ length: size }, (_, n) => balancedKey(n)));
  const more = Math.max(10, Math.min(200, 2_000_000 / size));
  const time = milliseconds(() => {
    for (let n = 0; n < more; n++) [tree] = nextBalancedAvailableKey(tree, 0n, HASH_KEY_SPACE);
  }, RUNS);
  return (time * 1_000) / more;
}

function allocatorMicroseconds(allocator: BalancedKeyAllocator, size: number): number {
  for (let n = 0; n < size; n++) allocator.allocate();
  const more = Math.min(4_000, size / 10);
  const time = milliseconds(() => {
    for (let n = 0; n < more; n++) allocator.allocate();
  }, RUNS);
  return (time * 1_000) / more;
}

function readable(microseconds: number): string {
  const [value, unit] = microseconds < 1_000 ? [microseconds, 'µs'] : [microseconds / 1_000, 'ms'];
  return `${value < 20 ? value.toFixed(1) : value.toFixed(0)} ${unit}`;
}
