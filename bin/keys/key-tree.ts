/** A node of the tree of "Kinesis Hash Key Space Partitioning": it halves an interval of the key space. */
interface TreeNode {
  readonly key: bigint;
  left?: TreeNode;
  right?: TreeNode;
}

/**
 * The tree as the article prints it: `((32) 64 (96))`. The tree finds the place of a key by halving the key space. So
 * the nodes above the key are in the tree, too, even if they have no owner.
 */
export class KeyTree {
  private root: TreeNode | undefined;

  constructor(private readonly space: bigint) {}

  add(key: bigint): void {
    this.root = withKey(this.root, key, 0n, this.space);
  }

  toString(): string {
    return textOf(this.root);
  }
}

function withKey(node: TreeNode | undefined, key: bigint, low: bigint, high: bigint): TreeNode {
  const middle = (low + high) >> 1n;
  const grown: TreeNode = node ?? { key: middle };
  if (key < middle) grown.left = withKey(grown.left, key, low, middle);
  if (key > middle) grown.right = withKey(grown.right, key, middle, high);
  return grown;
}

function textOf(node: TreeNode | undefined): string {
  if (node === undefined) return '()';
  const { left, key, right } = node;
  const parts = [...(left ? [textOf(left)] : []), String(key), ...(right ? [textOf(right)] : [])];
  return `(${parts.join(' ')})`;
}
