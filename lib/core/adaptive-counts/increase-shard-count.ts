import { type Clock, systemClock } from '../kernel/clock';
import type { ShardedIndexConfig } from '../sharded-index';
import { checkIndexShardCount } from '../sharding/shard-count';
import { adaptiveCountsOf, checkCountReader, countedValue, floorOf } from './adaptive-config';
import { ShardCountChangedError } from './adaptive-count-errors';
import { type CountChange, checkChange, watch, writeNext } from './change-count';
import { OUTLIVED_AFTER_MS } from './copy-life';
import type { GrownCount } from './grown-count';
import type { ShardCountStore } from './shard-count-store';

/** How many shards a value grows to, and why. */
export interface ShardCountIncrease extends CountChange {
  /** The value. Absent for an index that covers the whole table. */
  value?: string | number;
  /** How many shards writers will use, from 1 to the maximum of the index. */
  to: number;
}

/** Other processes make at most one change a minute to the counts of a value. */
const MAX_ATTEMPTS = 10;

/**
 * Increases the shard count of one value: first for readers, and 45 seconds later for writers, when no reader can have an
 * earlier copy. So the call takes that long. It changes nothing if the value already has this many shards.
 *
 * The call may be interrupted at any point and repeated by any process: it goes on from what is stored, and waits the whole
 * 45 seconds itself. Any number of processes may increase the counts of one value at the same time. What is in the old shards
 * stays there, and readers go on asking them.
 *
 * @param config the configuration that the index emits
 * @param store holds the counts of that index
 * @param options `clock` tells the time of the wait
 * @returns the counts that are stored then; undefined if the configuration alone gives the value this many shards
 * @throws InvalidArgumentError, or one of its subclasses, before anything is written, if an argument is invalid, if the
 *   store is that of another index, or if the count is greater than the maximum
 * @throws ShardCountChangedError if others change the counts of the value all the time
 * @throws what the store throws, if it cannot be read or written
 */
export async function increaseShardCount(
  config: ShardedIndexConfig,
  store: ShardCountStore,
  increase: ShardCountIncrease,
  { clock = systemClock }: { clock?: Clock } = {},
): Promise<GrownCount | undefined> {
  const { maximum } = adaptiveCountsOf(config);
  checkCountReader(config, store);
  checkChange(increase);
  checkIndexShardCount('to', increase.to, maximum);
  const { to } = increase;
  const value = countedValue(config, increase.value);
  const floor = floorOf(config, value);
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const before = await store.readCount(value);
    if (Math.max(floor.write, before?.write ?? 1) >= to) return before;
    const { write, read } = before ?? { write: 1, read: 1 };
    const next = { value, write, read: Math.max(read, to) };
    // If readers already ask enough shards, it is not known since when. So the wait begins with the version that was read.
    const readersFirst = read >= to ? before : await writeNext(store, before, next, increase);
    if (readersFirst === undefined) continue;
    await watch(clock, OUTLIVED_AFTER_MS);
    const increased = await writeNext(store, readersFirst, { ...next, write: to }, increase);
    if (increased !== undefined) return increased;
  }
  throw new ShardCountChangedError();
}
