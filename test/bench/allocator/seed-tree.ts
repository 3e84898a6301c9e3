import { HASH_KEY_SPACE } from '../../../lib/core';

/**
 * The tree of "Kinesis Hash Key Space Partitioning", ported line by line. Every call of `sizeOf` counts the nodes of a
 * subtree again.
 */
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

export function nextBalancedAvailableKey(tree: SeedTree | undefined, floor: bigint, max: bigint): [SeedTree, bigint] {
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

export function seedTree(keys: readonly bigint[]): SeedTree | undefined {
  return keys.reduce<SeedTree | undefined>((tree, key) => insertAndBackfill(tree, key, 0n, HASH_KEY_SPACE), undefined);
}
