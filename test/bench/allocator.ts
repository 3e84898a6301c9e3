import { textTable } from '../../bin/local/sample/text-table';
import {
  BalancedKeyAllocator,
  balancedKey,
  HASH_KEY_SPACE,
  type HashKeyRange,
  hashPartitionKey,
  shardIndexOf,
  uniformRanges,
} from '../../lib/core';

/** The seed's tree, ported line by line: the size of a subtree is counted whenever it is asked for. */
interface SeedTree {
  left?: SeedTree;
  value: bigint;
  right?: SeedTree;
  placeholder: boolean;
}

function sizeOf(tree: SeedTree | undefined): number {
  if (tree === undefined) return 0;
  return sizeOf(tree.left) + sizeOf(tree.right) + (tree.placeholder ? 0 : 1);
}

function insertAndBackfill(tree: SeedTree | undefined, value: bigint, floor: bigint, max: bigint): SeedTree {
  const half = floor + ((max - floor) >> 1n);
  const node = tree ?? { value: half, placeholder: half !== value };
  if (value < node.value) node.left = insertAndBackfill(node.left, value, floor, half);
  else if (value > node.value) node.right = insertAndBackfill(node.right, value, half, max);
  else node.placeholder = false;
  return node;
}

function nextBalancedAvailableKey(tree: SeedTree | undefined, floor: bigint, max: bigint): [SeedTree, bigint] {
  const half = floor + ((max - floor) >> 1n);
  if (tree === undefined) return [{ value: half, placeholder: false }, half];
  if (tree.placeholder) {
    tree.placeholder = false;
    return [tree, tree.value];
  }
  let value: bigint;
  if (sizeOf(tree.left) <= sizeOf(tree.right)) {
    [tree.left, value] = nextBalancedAvailableKey(tree.left, floor, half);
  } else {
    [tree.right, value] = nextBalancedAvailableKey(tree.right, half, max);
  }
  return [tree, value];
}

function seedTree(keys: readonly bigint[]): SeedTree | undefined {
  return keys.reduce<SeedTree | undefined>((tree, key) => insertAndBackfill(tree, key, 0n, HASH_KEY_SPACE), undefined);
}

function milliseconds(work: () => void): number {
  const start = process.hrtime.bigint();
  work();
  return Number(process.hrtime.bigint() - start) / 1e6;
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}

function heapBytes(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

/** What `make` leaves in memory, in bytes for each of `count` keys. */
function bytesPerKey(count: number, make: () => unknown): number {
  const before = heapBytes();
  const kept = make();
  const bytes = heapBytes() - before;
  return kept === undefined ? 0 : Math.round(bytes / count);
}

function printAllocations(): void {
  const rows = [1_000, 10_000, 100_000, 1_000_000].map((size) => {
    const keys = Array.from({ length: size }, (_, n) => balancedKey(n));
    const more = Math.max(10, Math.min(1_000, 10_000_000 / size));
    let seed = seedTree(keys);
    const seedMs = milliseconds(() => {
      for (let n = 0; n < more; n++) [seed] = nextBalancedAvailableKey(seed, 0n, HASH_KEY_SPACE);
    });
    const seedUs = (seedMs * 1_000) / more;
    const [ours, sharded] = [undefined, uniformRanges(48)].map((ranges) => {
      const allocator = new BalancedKeyAllocator({ ranges });
      const total = milliseconds(() => {
        for (let n = 0; n < size; n++) allocator.allocate();
      });
      const last = milliseconds(() => {
        for (let n = 0; n < 20_000; n++) allocator.allocate();
      });
      return { total, us: last / 20 };
    });
    return [
      size,
      tenths(seedUs),
      tenths(ours!.us),
      Math.round(seedUs / ours!.us),
      tenths(sharded!.us),
      Math.round(seedUs / sharded!.us),
      tenths(ours!.total / 1_000),
    ];
  });
  console.log('\nmicroseconds for the next key, at a number of keys; seconds for all of them');
  const headings = ['keys', 'seed tree', 'allocator', 'ratio', 'with 48 shards', 'ratio', 'all, s'];
  console.log(textTable(headings, rows).join('\n'));
}

function printRestarts(): void {
  const count = 1_000_000;
  const kinds: [string, (n: number) => bigint][] = [
    ['balanced', (n) => balancedKey(n)],
    ['MD5', (n) => hashPartitionKey(String(n))],
    ['consecutive', (n) => BigInt(n)],
  ];
  const rows = kinds.map(([kind, keyOf]) => {
    const keys = Array.from({ length: count }, (_, n) => keyOf(n));
    const few = keys.slice(0, 20_000);
    let allocator = new BalancedKeyAllocator();
    const ms = milliseconds(() => {
      allocator = new BalancedKeyAllocator({ allocated: keys });
    });
    if (allocator.size !== count) throw new Error('lost a key');
    allocator = new BalancedKeyAllocator();
    const bytes = bytesPerKey(count, () => new BalancedKeyAllocator({ allocated: keys }));
    const seedBytes = bytesPerKey(few.length, () => seedTree(few));
    return [kind, tenths(ms / 1_000), bytes, seedBytes, tenths(seedBytes / bytes)];
  });
  console.log('\na million keys restored; bytes of memory for each, beside the key itself (seed tree: at 20,000 keys)');
  console.log(textTable(['keys', 'seconds', 'bytes a key', 'seed tree', 'ratio'], rows).join('\n'));
}

/** The most owners a shard has, over ceil(m/k), for every m up to 1,000: worst, and the share of m where it is above. */
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
  return { worst, missed: missed / 1_000 };
}

function printEvenness(): void {
  const shown = [2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24, 32, 48, 60, 63, 64];
  const all = Array.from({ length: 63 }, (_, index) => {
    const shards = index + 2;
    const ranges = uniformRanges(shards);
    const allocator = new BalancedKeyAllocator({ ranges });
    return {
      shards,
      md5: evenness(ranges, (n) => hashPartitionKey(`account-${n}`)),
      reversal: evenness(ranges, (n) => balancedKey(n)),
      allocator: evenness(ranges, () => allocator.allocate()),
    };
  });
  const cell = ({ worst, missed }: { worst: number; missed: number }) => `+${worst} (${(100 * missed).toFixed(0)} %)`;
  const rows = all
    .filter(({ shards }) => shown.includes(shards))
    .map(({ shards, md5, reversal, allocator }) => [shards, cell(md5), cell(reversal), cell(allocator)]);
  console.log('\nowners on the fullest shard above ceil(m/k), at worst over m = 1..1,000 (and in how many % of m)');
  console.log(textTable(['shards k', 'MD5', 'bit reversal', 'allocator'], rows).join('\n'));
  const cells = all.length * 1_000;
  const missed = (method: 'md5' | 'reversal' | 'allocator') =>
    Math.round(all.reduce((sum, row) => sum + row[method].missed, 0) * 1_000);
  console.log(
    `of ${cells} cells, k = 2..64 and m = 1..1,000, above ceil(m/k): ` +
      `MD5 ${missed('md5')}, bit reversal ${missed('reversal')}, allocator ${missed('allocator')}`,
  );
}

printAllocations();
printRestarts();
printEvenness();
