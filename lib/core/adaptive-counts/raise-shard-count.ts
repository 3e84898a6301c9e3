import { type Clock, systemClock } from '../foundation/clock';
import { checkIndexShardCount } from '../foundation/shard-count';
import type { ShardedIndexConfig } from '../sharded-index';
import { adaptiveCountsOf, checkCountReader, countedValue, floorOf } from './adaptive-config';
import { ShardCountChangedError } from './adaptive-count-errors';
import { type CountChange, checkChange, watch, writeNext } from './change-count';
import { OUTLIVED_AFTER_MS } from './copy-life';
import type { GrownCount } from './grown-count';
import type { ShardCountStore } from './shard-count-store';

/** To how many shards a value grows, and why. */
export interface ShardCountRaise extends CountChange {
  /** The value. Absent for an index that covers the whole table. */
  value?: string | number;
  /** How many shards writers will use, from 1 to the maximum of the index. */
  to: number;
}

/** Whoever else changes the counts of a value makes one change a minute at most. */
const MAX_ATTEMPTS = 10;

/**
 * Raises the shard count of one value: readers first, and 45 seconds later, when no reader can have an earlier copy, writers.
 * It takes that long, and it changes nothing if the value has so many shards already.
 *
 * It may end at any point and be called again, by any process: it goes on from what is stored, and waits all of the 45
 * seconds itself. Any number of processes may raise the counts of one value at the same time. What is in the old shards stays
 * there, and readers go on asking them.
 *
 * @param config the configuration that the index emits
 * @param store holds the counts of that index
 * @param options `clock` tells the time of the wait
 * @returns the counts that are stored then; undefined if the configuration alone gives the value so many shards
 * @throws InvalidArgumentError, or one of its subclasses, before anything is written, if an argument is invalid, if the store
 *   is that of another index, or if the count is greater than the maximum
 * @throws ShardCountChangedError if others change the counts of the value all the time
 * @throws what the store throws, if it cannot be read or written
 */
export async function raiseShardCount(
  config: ShardedIndexConfig,
  store: ShardCountStore,
  raise: ShardCountRaise,
  { clock = systemClock }: { clock?: Clock } = {},
): Promise<GrownCount | undefined> {
  const { maximum } = adaptiveCountsOf(config);
  checkCountReader(config, store);
  checkChange(raise);
  checkIndexShardCount('to', raise.to, maximum);
  const { to } = raise;
  const value = countedValue(config, raise.value);
  const floor = floorOf(config, value);
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const before = await store.readCount(value);
    if (Math.max(floor.write, before?.write ?? 1) >= to) return before;
    const { write, read } = before ?? { write: 1, read: 1 };
    const next = { value, write, read: Math.max(read, to) };
    // Who finds that readers ask enough shards does not know since when. So it watches the version that it has read.
    const readersFirst = read >= to ? before : await writeNext(store, before, next, raise);
    if (readersFirst === undefined) continue;
    await watch(clock, OUTLIVED_AFTER_MS);
    const raised = await writeNext(store, readersFirst, { ...next, write: to }, raise);
    if (raised !== undefined) return raised;
  }
  throw new ShardCountChangedError();
}
