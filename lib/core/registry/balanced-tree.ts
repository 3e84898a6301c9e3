/** The key that halves the interval from `low` to below `high`. It comes first among the keys of the interval. */
type Middle = (low: bigint, high: bigint) => bigint;

/**
 * The middle of the article's tree, which belongs to the upper half: of an odd number of keys, the lower half is
 * smaller.
 */
export const lowerMiddle: Middle = (low, high) => (low + high) >> 1n;

/**
 * The middle for shards: of an odd number of keys, the upper half is smaller. Kinesis does not document where it
 * puts the boundary when it splits such a shard; this key is in the upper half either way.
 */
export const upperMiddle: Middle = (low, high) => {
  const middle = (low + high + 1n) >> 1n;
  return middle === high ? low : middle;
};

/**
 * A key and all keys below it. Halving an interval again and again reaches each of its keys once, so it makes a tree of
 * all keys. Of that tree, only two kinds of nodes are stored: allocated keys, and forks whose two subtrees both hold
 * allocated keys. So a tree of any m allocated keys has fewer than 2m nodes.
 */
interface Node {
  readonly key: bigint;
  /** The interval that the key halves. For a leaf it may be wider, because it takes up to 128 steps to find. */
  low: bigint;
  high: bigint;
  /** 0 if the key is not allocated and the node is only a fork. */
  weight: number;
  totalWeight: number;
  size: number;
  left: Node | undefined;
  right: Node | undefined;
}

/**
 * The binary tree of the article "Kinesis Hash Key Space Partitioning", over the keys from `low` to below `high`. It
 * hands out the free key that is highest in the tree. If both subtrees of a node have a free key, it takes the lighter
 * subtree, or the left one if both weigh the same.
 */
export class BalancedTree {
  private root: Node | undefined;

  constructor(
    readonly low: bigint,
    readonly high: bigint,
    private readonly middle: Middle,
  ) {}

  get size(): number {
    return this.root?.size ?? 0;
  }

  /** The weight of all keys. Every change sums it again, so that a rounding error does not outlive its weights. */
  get weight(): number {
    return weightOf(this.root);
  }

  get full(): boolean {
    return this.size >= this.high - this.low;
  }

  has(key: bigint): boolean {
    return (this.find(key)?.weight ?? 0) > 0;
  }

  /** Allocates the next key. The tree must not be full. */
  take(weight: number): bigint {
    const key = this.next();
    this.add(key, weight);
    return key;
  }

  /** Allocates this key of the interval. A key that is allocated already gets this weight. */
  add(key: bigint, weight: number): void {
    this.root = this.grown(this.root, this.low, this.high, key, weight);
  }

  /** Frees a key that is allocated. */
  remove(key: bigint): void {
    this.root = pruned(this.root!, key);
  }

  /** The key whose removal leaves the tree the most even: the last key that it handed out. The tree must have keys. */
  last(): bigint {
    let node = this.root!;
    while (isFork(node)) node = weightOf(node.left) > weightOf(node.right) ? node.left! : node.right!;
    return node.key;
  }

  private find(key: bigint): Node | undefined {
    let node = this.root;
    while (node !== undefined && node.key !== key) node = key < node.key ? node.left : node.right;
    return node;
  }

  private next(): bigint {
    let { low, high, root: node } = this;
    for (;;) {
      const middle = this.middle(low, high);
      if (node?.key !== middle || node.weight === 0) return middle;
      if (this.goesLeft(node, low, high)) {
        high = middle;
        node = node.left;
      } else {
        low = middle;
        node = node.right;
      }
    }
  }

  private goesLeft({ key, left, right }: Node, low: bigint, high: bigint): boolean {
    if (weightOf(left) > weightOf(right)) return sizeOf(right) >= high - key - 1n;
    return sizeOf(left) < key - low - (this.startsAt(low) ? 0n : 1n);
  }

  /** The subtree with one more key. The whole interval from `low` to below `high` belongs to the subtree. */
  private grown(node: Node | undefined, low: bigint, high: bigint, key: bigint, weight: number): Node {
    if (node === undefined) return leaf(key, low, high, weight);
    if (node.key === key) node.weight = weight;
    else if (isFork(node) && this.standsBelow(node, key)) this.growChild(node, key, weight);
    else return this.forked(node, low, high, key, weight);
    return summed(node);
  }

  private standsBelow({ low, high }: Node, key: bigint): boolean {
    return key < high && (key > low || (key === low && this.startsAt(low)));
  }

  /** Whether the whole tree starts at `low`. Any other interval starts with a key that halves an interval above. */
  private startsAt(low: bigint): boolean {
    return low === this.low;
  }

  private growChild(node: Node, key: bigint, weight: number): void {
    if (key < node.key) node.left = this.grown(node.left, node.low, node.key, key, weight);
    else node.right = this.grown(node.right, node.key, node.high, key, weight);
  }

  /** Joins a key and a subtree: below a free key that is above both, or one of them below the other. */
  private forked(node: Node, low: bigint, high: bigint, key: bigint, weight: number): Node {
    let [from, to] = [low, high];
    let middle = this.middle(from, to);
    while (key < middle ? node.key < middle : key > middle && node.key > middle) {
      if (key < middle) to = middle;
      else from = middle;
      middle = this.middle(from, to);
    }
    const fork = node.key === middle ? node : leaf(middle, from, to, 0);
    fork.low = from;
    fork.high = to;
    if (node.key < middle) fork.left = node;
    if (node.key > middle) fork.right = node;
    if (key === middle) fork.weight = weight;
    else this.growChild(fork, key, weight);
    return summed(fork);
  }
}

function leaf(key: bigint, low: bigint, high: bigint, weight: number): Node {
  return { key, low, high, weight, totalWeight: weight, size: 1, left: undefined, right: undefined };
}

function isFork({ left, right }: Node): boolean {
  return left !== undefined || right !== undefined;
}

function weightOf(node: Node | undefined): number {
  return node === undefined ? 0 : node.totalWeight;
}

function sizeOf(node: Node | undefined): number {
  return node === undefined ? 0 : node.size;
}

function summed(node: Node): Node {
  const { left, right, weight } = node;
  node.totalWeight = weight + weightOf(left) + weightOf(right);
  node.size = (weight > 0 ? 1 : 0) + sizeOf(left) + sizeOf(right);
  return node;
}

function pruned(node: Node, key: bigint): Node | undefined {
  if (node.key === key) node.weight = 0;
  else if (key < node.key) node.left = pruned(node.left!, key);
  else node.right = pruned(node.right!, key);
  const needed = node.weight > 0 || (node.left !== undefined && node.right !== undefined);
  return needed ? summed(node) : (node.left ?? node.right);
}
