import { type Clock, systemClock } from '../kernel/clock';
import { InvalidArgumentError } from '../kernel/errors';
import { InvalidIndexValueError, type ShardedIndexConfig } from '../sharded-index';
import { LONGEST_INVOCATION_SECONDS } from '../sharding/longest-write';
import { checkIndexShardCount } from '../sharding/shard-count';
import { adaptiveCountsOf, checkCountReader, countedValue } from './adaptive-config';
import { ShardCountChangedError } from './adaptive-count-errors';
import { type CountChange, checkChange, waitFor, writeNext } from './change-count';
import { EARLIER_COUNTS_EXPIRE_AFTER_MS } from './count-age';
import type { GrownCount } from './grown-count';
import type { ShardCountStore } from './shard-count-store';

/** The change that `decreaseShardCount` makes: a value, and the new number of shards for its writers. */
export interface ShardCountDecrease extends CountChange {
  /** The value. Absent if the index has no value attribute. */
  value?: string | number;
  /** The new number of shards for writers, from 1 to the current number. */
  to: number;
}

/** Options of `decreaseShardCount`. */
export interface DecreaseShardCountOptions {
  /**
   * The longest time for which a writer uses a configuration, in milliseconds: from the call of `forWriting` until the last
   * write with this configuration, including its retries, has succeeded or failed. This option takes precedence over
   * `longestWriteSeconds` of the configuration.
   * @default `longestWriteSeconds` of the configuration, or 90 minutes, the longest invocation of a Lambda function
   */
  longestWriteMs?: number;
  /**
   * Called once when the wait begins.
   * @default no notice
   */
  onWait?(wait: DecreaseWait): void;
  /**
   * The clock for the wait.
   * @default the system clock
   */
  clock?: Clock;
}

/** The wait of `decreaseShardCount`. */
export interface DecreaseWait {
  /** The length of the wait, in milliseconds. */
  waitMs: number;
  /** The reason of the wait, as a sentence for operators. */
  reason: string;
}

/**
 * Decreases the number of shards that the writers of one value use. The call then waits until no write can arrive in the other
 * shards, which writers no longer use. Readers still query all shards. After the call, drain the other shards with
 * `reshardItems`, and call `endDrain` to decrease the number of shards for readers:
 *
 *     const decreased = await decreaseShardCount(config, store, { value: 'shipped', to: 2, reason, changedBy });
 *     // drain every segment: reshardItems(client, index, { segment, totalSegments }), with the AdaptiveIndex
 *     await endDrain(config, store, { value: 'shipped', version: decreased.version, reason, changedBy });
 *
 * The call waits for writers that still use the earlier count: 45 seconds, plus the duration of the longest write. By default,
 * this duration is 90 minutes. You can interrupt the call and repeat it. The repeated call waits the whole time again.
 *
 * @param config the configuration that the index emits
 * @param store the store that reads and writes the counts of this index
 * @returns the stored counts; pass their version to `endDrain`
 * @throws InvalidArgumentError, or one of its subclasses, before anything is written, if an argument is invalid, or if writers
 *   already use fewer shards
 * @throws ShardCountChangedError if another process changes the counts of the value during the call
 * @throws the store's error if the store cannot be read or written
 */
export async function decreaseShardCount(
  config: ShardedIndexConfig,
  store: ShardCountStore,
  decrease: ShardCountDecrease,
  { longestWriteMs: givenMs, onWait, clock = systemClock }: DecreaseShardCountOptions = {},
): Promise<GrownCount> {
  adaptiveCountsOf(config);
  const { longestWriteSeconds = LONGEST_INVOCATION_SECONDS } = config;
  const longestWriteMs = givenMs ?? longestWriteSeconds * 1_000;
  checkCountReader(config, store);
  checkChange(decrease, ['value', 'to']);
  if (!Number.isFinite(longestWriteMs) || longestWriteMs < 0) {
    throw new InvalidArgumentError('longestWriteMs', longestWriteMs, 'a number of milliseconds of at least 0');
  }
  const value = countedValue(config, decrease.value);
  const before = await store.readCount(value);
  if (before === undefined) throw new InvalidIndexValueError('value', decrease.value, 'a value that has grown');
  checkIndexShardCount('to', decrease.to, before.write);
  const next = { ...before, write: decrease.to };
  const decreased = before.write === decrease.to ? before : await writeNext(store, before, next, decrease);
  if (decreased === undefined) throw new ShardCountChangedError();
  const waitMs = EARLIER_COUNTS_EXPIRE_AFTER_MS + longestWriteMs;
  const seconds = Math.ceil(waitMs / 1_000);
  onWait?.({
    waitMs,
    reason: `a writer that has read the earlier count may still write to the other shards for ${seconds} seconds`,
  });
  await waitFor(clock, waitMs);
  if ((await store.readCount(value))?.version !== decreased.version) throw new ShardCountChangedError();
  return decreased;
}

/** The change that `endDrain` makes: the end of a drain. */
export interface DrainEnd extends CountChange {
  /** The value. Absent if the index has no value attribute. */
  value?: string | number;
  /** The version that `decreaseShardCount` returned. */
  version: number;
}

/**
 * Decreases the number of shards that readers query to the number of shards that writers use. Call this function when
 * `decreaseShardCount` has returned and the other shards are drained. The call changes nothing if readers already query only
 * these shards.
 *
 * @returns the stored counts
 * @throws InvalidArgumentError, or one of its subclasses, if an argument is invalid
 * @throws ShardCountChangedError if the counts have changed since `decreaseShardCount`, because writers may then have used the
 *   other shards again
 * @throws the store's error if the store cannot be read or written
 */
export async function endDrain(config: ShardedIndexConfig, store: ShardCountStore, end: DrainEnd): Promise<GrownCount> {
  adaptiveCountsOf(config);
  checkCountReader(config, store);
  checkChange(end, ['value', 'version']);
  if (!Number.isSafeInteger(end.version) || end.version < 1) {
    throw new InvalidArgumentError('version', end.version, 'the version that decreaseShardCount returned');
  }
  const value = countedValue(config, end.value);
  const before = await store.readCount(value);
  if (before === undefined) throw new InvalidIndexValueError('value', end.value, 'a value that has grown');
  if (before.read === before.write) return before;
  if (before.version !== end.version) throw new ShardCountChangedError();
  const drained = await writeNext(store, before, { value, write: before.write, read: before.write }, end);
  if (drained === undefined) throw new ShardCountChangedError();
  return drained;
}
