/**
 * Finds the smallest of several loads in constant time. If several loads are the smallest, it finds the first of them. An update
 * of a load takes logarithmic time.
 *
 * It is a tournament tree: each node contains the index of the smaller load of its two children.
 */
export class Lightest {
  private readonly loads: Float64Array;
  private readonly winners: Int32Array;

  constructor(count: number) {
    const leaves = 2 ** Math.ceil(Math.log2(count));
    this.loads = new Float64Array(leaves).fill(Number.POSITIVE_INFINITY, count);
    this.winners = new Int32Array(2 * leaves);
    for (let index = 0; index < leaves; index++) this.winners[leaves + index] = index;
    for (let node = leaves - 1; node > 0; node--) this.play(node);
  }

  get index(): number {
    return this.winners[1]!;
  }

  get load(): number {
    return this.loads[this.index]!;
  }

  update(index: number, load: number): void {
    this.loads[index] = load;
    for (let node = (this.loads.length + index) >> 1; node > 0; node >>= 1) this.play(node);
  }

  private play(node: number): void {
    const left = this.winners[2 * node]!;
    const right = this.winners[2 * node + 1]!;
    this.winners[node] = this.loads[left]! <= this.loads[right]! ? left : right;
  }
}
