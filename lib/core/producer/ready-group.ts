import { Fifo } from '../kernel/fifo';
import type { ShardQueue } from './shard-turns';

/**
 * Ready lanes whose records may share a Kinesis record: the lanes of an aggregation group with `aggregation: 'packed'`, or a
 * single lane.
 *
 * The first lane is a field, and only later lanes are in a list. Most groups have a single lane, and a list for it would take
 * more time than all other steps of the queue.
 */
export class ReadyGroup<L> {
  /** The queue in which the group waits for its turn. Undefined while the group lingers for more lanes. */
  shard?: ShardQueue<ReadyGroup<L>>;
  /** The bytes of all records that were added to the lanes of the group. */
  bytes = 0;
  private first?: L;
  private later?: Fifo<L>;

  /** @param name the name of the aggregation group; undefined for a single lane */
  constructor(readonly name: string | undefined) {}

  get head(): L | undefined {
    return this.first;
  }

  append(lane: L): void {
    if (this.first === undefined) {
      this.first = lane;
      return;
    }
    this.later ??= new Fifo();
    this.later.push(lane);
  }

  removeFirst(): void {
    this.first = this.later?.shift();
  }
}
