import { type Clock, systemClock } from '../kernel/clock';
import type { ShardedIndexConfig } from '../sharded-index';
import { checkIndexShardCount } from '../sharding/shard-count';
import { adaptiveCountsOf, checkCountReader, countedValue, floorOf } from './adaptive-config';
import { ShardCountChangedError } from './adaptive-count-errors';
import { type CountChange, checkChange, waitFor, writeNext } from './change-count';
import { EARLIER_COUNTS_EXPIRE_AFTER_MS } from './count-age';
import type { GrownCount } from './grown-count';
import type { ShardCountStore } from './shard-count-store';

/** An increase of the shard count of a value. */
export interface ShardCountIncrease extends CountChange {
  /** The value. Absent if the index has no value attribute. */
  value?: string | number;
  /** The new number of shards for writers, from 1 to the maximum of the index. */
  to: number;
}

/** Other processes change the counts of a value at most once per minute, so more attempts are not necessary. */
const MAX_ATTEMPTS = 10;

/**
 * Increases the shard count of one value: first for readers, and 45 seconds later for writers, when no reader uses the earlier
 * count any longer. So the call takes at least 45 seconds. The call changes nothing if the value already has this number of
 * shards.
 *
 * You can interrupt the call and repeat it in any process. The repeated call continues from the stored counts, and waits the
 * whole 45 seconds. Several processes may increase the counts of one value in parallel. Existing items stay in their shards,
 * which readers still query.
 *
 * @param config the configuration that the index emits
 * @param store the store that reads and writes the counts of this index
 * @param options `clock` is the clock for the wait
 * @returns the stored counts; undefined if the configuration already gives the value this number of shards
 * @throws InvalidArgumentError, or one of its subclasses, before anything is written, if an argument is invalid, the store
 *   belongs to another index, or the count is greater than the maximum
 * @throws ShardCountChangedError if other processes change the counts of the value during all attempts
 * @throws the store's error if the store cannot be read or written
 */
export async function increaseShardCount(
  config: ShardedIndexConfig,
  store: ShardCountStore,
  increase: ShardCountIncrease,
  { clock = systemClock }: { clock?: Clock } = {},
): Promise<GrownCount | undefined> {
  const { maximum } = adaptiveCountsOf(config);
  checkCountReader(config, store);
  checkChange(increase, ['value', 'to']);
  checkIndexShardCount('to', increase.to, maximum);
  const { to } = increase;
  const value = countedValue(config, increase.value);
  const floor = floorOf(config, value);
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const before = await store.readCount(value);
    if (Math.max(floor.write, before?.write ?? 1) >= to) return before;
    const { write, read } = before ?? { write: 1, read: 1 };
    const next = { value, write, read: Math.max(read, to) };
    // If readers already query enough shards, the function does not know for how long they have done so. So it waits the whole
    // 45 seconds.
    const readersFirst = read >= to ? before : await writeNext(store, before, next, increase);
    if (readersFirst === undefined) continue;
    await waitFor(clock, EARLIER_COUNTS_EXPIRE_AFTER_MS);
    const increased = await writeNext(store, readersFirst, { ...next, write: to }, increase);
    if (increased !== undefined) return increased;
  }
  throw new ShardCountChangedError();
}
