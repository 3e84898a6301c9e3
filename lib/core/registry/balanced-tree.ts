/**
 * Returns the key that halves the interval from `low` (included) to `high` (excluded). This key is allocated before all other
 * keys of the interval.
 */
type Middle = (low: bigint, high: bigint) => bigint;

/**
 * The middle key in the tree of "Kinesis Hash Key Space Partitioning". The key belongs to the upper half. If the number of keys
 * is odd, the lower half is smaller.
 */
export const lowerMiddle: Middle = (low, high) => (low + high) >> 1n;

/**
 * The middle key of a shard. If the number of keys is odd, the upper half is smaller. Kinesis does not document on which side of
 * the middle it splits an odd number of keys. This key is in the upper half in both cases.
 */
export const upperMiddle: Middle = (low, high) => {
  const middle = (low + high + 1n) >> 1n;
  return middle === high ? low : middle;
};

/**
 * A node of the tree of an interval: the middle key is the root, and the trees of the two halves are the subtrees. Only two kinds
 * of nodes are stored: allocated keys, and forks that have allocated keys in both subtrees. So a tree with m allocated keys has
 * fewer than 2m nodes.
 */
interface Node {
  readonly key: bigint;
  /**
   * The interval that the key halves. A leaf may have a wider interval, because its own interval takes up to 128 steps to
   * compute.
   */
  low: bigint;
  high: bigint;
  /** The weight of the key. It is 0 if the key is not allocated and the node is only a fork. */
  weight: number;
  totalWeight: number;
  size: number;
  left: Node | undefined;
  right: Node | undefined;
}

/**
 * The binary tree of the article "Kinesis Hash Key Space Partitioning", with the keys from `low` (included) to `high` (excluded).
 * It allocates a free key before the keys below this key in the tree. If both subtrees of a node have a free key, it uses the
 * lighter subtree, or the left subtree if both have the same weight.
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

  /** The sum of all weights. Every change recomputes it, so that rounding errors do not accumulate. */
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

  /** Allocates a given key. If the key is already allocated, sets its weight. */
  add(key: bigint, weight: number): void {
    this.root = this.insert(this.root, this.low, this.high, key, weight);
  }

  remove(key: bigint): void {
    this.root = removeKey(this.root!, key);
  }

  /** The key whose removal leaves the tree the most even: the key that was allocated last. The tree must not be empty. */
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
      if (this.takesLeft(node, low, high)) {
        high = middle;
        node = node.left;
      } else {
        low = middle;
        node = node.right;
      }
    }
  }

  private takesLeft({ key, left, right }: Node, low: bigint, high: bigint): boolean {
    if (weightOf(left) > weightOf(right)) return sizeOf(right) >= high - key - 1n;
    return sizeOf(left) < key - low - (this.startsAt(low) ? 0n : 1n);
  }

  /** Adds a key to the subtree of the interval from `low` (included) to `high` (excluded). */
  private insert(node: Node | undefined, low: bigint, high: bigint, key: bigint, weight: number): Node {
    if (node === undefined) return leaf(key, low, high, weight);
    if (node.key === key) node.weight = weight;
    else if (isFork(node) && this.isBelow(node, key)) this.insertIntoChild(node, key, weight);
    else return this.join(node, low, high, key, weight);
    return withSums(node);
  }

  private isBelow({ low, high }: Node, key: bigint): boolean {
    return key < high && (key > low || (key === low && this.startsAt(low)));
  }

  /** Whether the whole tree starts at `low`. Every other interval starts with the key of an ancestor. */
  private startsAt(low: bigint): boolean {
    return low === this.low;
  }

  private insertIntoChild(node: Node, key: bigint, weight: number): void {
    if (key < node.key) node.left = this.insert(node.left, node.low, node.key, key, weight);
    else node.right = this.insert(node.right, node.key, node.high, key, weight);
  }

  /**
   * Joins a key and a subtree under one node. This node is a free key above both of them, the root of the subtree, or the key
   * itself.
   */
  private join(node: Node, low: bigint, high: bigint, key: bigint, weight: number): Node {
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
    else this.insertIntoChild(fork, key, weight);
    return withSums(fork);
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

function withSums(node: Node): Node {
  const { left, right, weight } = node;
  node.totalWeight = weight + weightOf(left) + weightOf(right);
  node.size = (weight > 0 ? 1 : 0) + sizeOf(left) + sizeOf(right);
  return node;
}

function removeKey(node: Node, key: bigint): Node | undefined {
  if (node.key === key) node.weight = 0;
  else if (key < node.key) node.left = removeKey(node.left!, key);
  else node.right = removeKey(node.right!, key);
  const needed = node.weight > 0 || (node.left !== undefined && node.right !== undefined);
  return needed ? withSums(node) : (node.left ?? node.right);
}
