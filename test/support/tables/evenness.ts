import {
  BalancedKeyAllocator,
  balancedKey,
  type HashKeyRange,
  hashPartitionKey,
  shardIndexOf,
  uniformRanges,
} from '../../../lib/core';
import { writeGuideTable } from '../guide-table';

export const SHARDS = [2, 3, 6, 10, 16, 24, 64];

/**
 * Compares the number of owners on the fullest shard with ceil(m/k), the best possible maximum for m owners on k shards. Does so
 * for each m up to 1,000. Returns the largest excess, and for how many values of m there is an excess.
 */
function evenness(ranges: readonly HashKeyRange[], keyOf: (n: number) => bigint): { worst: number; missed: number } {
  const owners = new Array<number>(ranges.length).fill(0);
  let most = 0;
  let worst = 0;
  let missed = 0;
  for (let n = 0; n < 1_000; n++) {
    const shard = shardIndexOf(keyOf(n), ranges);
    owners[shard]! += 1;
    most = Math.max(most, owners[shard]!);
    const best = Math.ceil((n + 1) / ranges.length);
    worst = Math.max(worst, most - best);
    if (most > best) missed += 1;
  }
  return { worst, missed };
}

/** The evenness of three methods: MD5, bit reversal, and the allocator. */
function evennessOf(shards: number) {
  const ranges = uniformRanges(shards);
  const allocator = new BalancedKeyAllocator({ ranges });
  return [
    (n: number) => hashPartitionKey(`account-${n}`),
    (n: number) => balancedKey(n),
    () => allocator.allocate(),
  ].map((keyOf) => evenness(ranges, keyOf));
}

export function evennessRow(shards: number): string[] {
  const cells = evennessOf(shards).map(({ worst, missed }) => {
    return missed === 0 ? '0' : `+${worst} (${(missed / 10).toFixed(0)} %)`;
  });
  return [String(shards), ...cells];
}

/**
 * For each method, the number of cells whose fullest shard has more than ceil(m/k) owners. The 63,000 cells are all
 * combinations of 2 to 64 shards and 1 to 1,000 owners.
 */
export function cellsAbove(): number[] {
  const rows = Array.from({ length: 63 }, (_, index) => evennessOf(index + 2));
  return [0, 1, 2].map((way) => rows.reduce((sum, row) => sum + row[way]!.missed, 0));
}

export function benchEvenness(): void {
  const header = ['shards', 'MD5', 'bit reversal', 'allocator'];
  writeGuideTable(
    'docs/decisions/0008-balanced-hash-keys-come-from-a-tree.md',
    'npm run bench allocator evenness',
    header,
    SHARDS.map(evennessRow),
  );
  console.log(`of 63,000 cells above ceil(m/k): MD5, bit reversal, allocator: ${cellsAbove().join(', ')}`);
}
