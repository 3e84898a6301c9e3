import { BalancedKeyAllocator, balancedKey, hashPartitionKey } from '../../../lib/core';
import { printTable } from '../../support/tables/producer/table';
import { milliseconds } from './measure';
import { seedTree } from './seed-tree';

const COUNT = 1_000_000;
/** The number of keys for the tree of the article. With more keys of the kind "MD5", the tree needs too much memory. */
const BASELINE_COUNT = 20_000;

const KINDS: [string, (n: number) => bigint][] = [
  ['handed out by an allocator', (n) => balancedKey(n)],
  ['consecutive', (n) => BigInt(n)],
  ['MD5 hashes', (n) => hashPartitionKey(String(n))],
];

/** Measures the time to restore a million keys, and the bytes of memory for each key without the key itself. */
export function benchRestarts(): void {
  const rows = KINDS.map(([kind, keyOf]) => {
    const keys = Array.from({ length: COUNT }, (_, n) => keyOf(n));
    let allocator = new BalancedKeyAllocator();
    const time = milliseconds(() => {
      allocator = new BalancedKeyAllocator({ allocated: keys });
    });
    if (allocator.size !== COUNT) throw new Error('lost a key');
    allocator = new BalancedKeyAllocator();
    const bytes = bytesPerKey(COUNT, () => new BalancedKeyAllocator({ allocated: keys }));
    const baselineBytes = bytesPerKey(BASELINE_COUNT, () => seedTree(keys.slice(0, BASELINE_COUNT)));
    return [kind, `${(time / 1_000).toFixed(1)} s`, String(bytes), baselineBytes.toLocaleString('en-US')];
  });
  const header = ['keys', 'restored in', 'bytes a key', 'bytes a key, baseline'];
  printTable(header, rows);
}

/** The memory that the result of `make` uses, divided by `count` keys, in bytes. */
function bytesPerKey(count: number, make: () => unknown): number {
  const before = heapBytes();
  const kept = make();
  const bytes = heapBytes() - before;
  return kept === undefined ? 0 : Math.round(bytes / count);
}

function heapBytes(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}
