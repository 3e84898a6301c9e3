import { BalancedKeyAllocator, InvalidHashKeyError, KeySpaceExhaustedError } from '../../../../lib/core';

/** The faults of the Go programs in "Kinesis Hash Key Space Partitioning". The functions below have the names of the article. */

interface Tree {
  left?: Tree;
  right?: Tree;
  value: number;
  isPlaceholder: boolean;
}

function size(tree: Tree | undefined): number {
  return tree === undefined ? 0 : size(tree.left) + size(tree.right) + (tree.isPlaceholder ? 0 : 1);
}

function nextBalancedAvailableKey(tree: Tree | undefined, floor: number, max: number): { tree: Tree; key: number } {
  const value = floor + ((max - floor) >> 1);
  if (tree === undefined) return { tree: { value, isPlaceholder: false }, key: value };
  if (tree.isPlaceholder) {
    tree.isPlaceholder = false;
    return { tree, key: tree.value };
  }
  const side = size(tree.left) <= size(tree.right) ? 'left' : 'right';
  const next = nextBalancedAvailableKey(
    tree[side],
    ...(side === 'left' ? ([floor, value] as const) : ([value, max] as const)),
  );
  tree[side] = next.tree;
  return { tree, key: next.key };
}

function insertAndBackfill(tree: Tree | undefined, value: number, floor: number, max: number): Tree | undefined {
  if (value < floor || value >= max) return undefined;
  const half = floor + ((max - floor) >> 1);
  const node = tree ?? { value: half, isPlaceholder: half !== value };
  if (value < node.value) node.left = insertAndBackfill(node.left, value, floor, half);
  else if (value > node.value) node.right = insertAndBackfill(node.right, value, half, max);
  else node.isPlaceholder = false;
  return node;
}

test('the program of the article repeats keys when the space is full, and the allocator throws an error', () => {
  let tree: Tree | undefined;
  const keys = Array.from({ length: 129 }, () => {
    const next = nextBalancedAvailableKey(tree, 0, 128);
    tree = next.tree;
    return next.key;
  });
  expect(new Set(keys.slice(0, 128)).size).toBe(128);
  expect(keys[128]).toBe(64);

  const allocator = new BalancedKeyAllocator({ space: 128n });
  for (let n = 0; n < 128; n++) allocator.allocate();
  expect(() => allocator.allocate()).toThrow(KeySpaceExhaustedError);
});

test('one invalid value drops the tree of the program in the article, and the allocator keeps its keys', () => {
  let tree: Tree | undefined;
  for (const key of [64, 32, 128]) tree = insertAndBackfill(tree, key, 0, 128);
  expect(tree).toBeUndefined();
  expect(nextBalancedAvailableKey(tree, 0, 128).key).toBe(64);

  const allocator = new BalancedKeyAllocator({ space: 128n, allocated: [64n, 32n] });
  expect(() => allocator.claim(128n)).toThrow(InvalidHashKeyError);
  expect(allocator.size).toBe(2);
  expect(allocator.allocate()).toBe(96n);
});
