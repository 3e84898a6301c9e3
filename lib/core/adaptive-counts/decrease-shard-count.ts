import { type Clock, systemClock } from '../kernel/clock';
import { InvalidArgumentError } from '../kernel/errors';
import { InvalidIndexValueError, type ShardedIndexConfig } from '../sharded-index';
import { LONGEST_INVOCATION_SECONDS } from '../sharding/longest-write';
import { checkIndexShardCount } from '../sharding/shard-count';
import { adaptiveCountsOf, checkCountReader, countedValue } from './adaptive-config';
import { ShardCountChangedError } from './adaptive-count-errors';
import { type CountChange, checkChange, watch, writeNext } from './change-count';
import { OUTLIVED_AFTER_MS } from './copy-life';
import type { GrownCount } from './grown-count';
import type { ShardCountStore } from './shard-count-store';

/** How many shards the writers of a value go back to, and why. */
export interface ShardCountDecrease extends CountChange {
  /** The value. Absent for an index that covers the whole table. */
  value?: string | number;
  /** How many shards writers will use, from 1 to the number that they use. */
  to: number;
}

/** Options of `decreaseShardCount`. */
export interface DecreaseShardCountOptions {
  /**
   * The longest time, in milliseconds, from the moment when a writer requests the configuration until its last write has arrived or
   * has failed, retries included. It takes precedence over the `longestWriteSeconds` of the configuration.
   * @default `longestWriteSeconds` of the configuration, or 90 minutes, the longest invocation of a Lambda function
   */
  longestWriteMs?: number;
  /**
   * Called once, when the call begins to wait.
   * @default the call waits without a notice
   */
  onWait?(wait: DecreaseWait): void;
  /**
   * The clock for the wait.
   * @default the clock of the system
   */
  clock?: Clock;
}

/** The wait of `decreaseShardCount`. */
export interface DecreaseWait {
  /** The length of the wait, in milliseconds. */
  waitMs: number;
  /** Why the call waits, as a sentence for people. */
  reason: string;
}

/**
 * Takes the writers of one value back to fewer shards, and waits until no further write can arrive in the other shards.
 * Readers go on asking all shards. Then write the items of the other shards again, as `reshardItems` does, and let
 * `endDrain` take the readers back:
 *
 *     const decreased = await decreaseShardCount(config, store, { value: 'shipped', to: 2, reason, changedBy });
 *     // drain every segment: reshardItems(client, index, { segment, totalSegments }), with the AdaptiveIndex
 *     await endDrain(config, store, { value: 'shipped', version: decreased.version, reason, changedBy });
 *
 * The call waits for writers that have read the earlier count: 45 seconds, plus the longest write, which is 90 minutes if neither
 * `longestWriteMs` nor the configuration gives it. The call may be interrupted at any point and repeated: each call waits the whole
 * time itself.
 *
 * @param config the configuration that the index emits
 * @param store holds the counts of that index
 * @returns the counts that are stored then, whose version `endDrain` takes
 * @throws InvalidArgumentError, or one of its subclasses, before anything is written, if an argument is invalid, or if
 *   writers use fewer shards already
 * @throws ShardCountChangedError if somebody else changes the counts of the value at the same time
 * @throws what the store throws, if it cannot be read or written
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
  checkChange(decrease);
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
  const waitMs = OUTLIVED_AFTER_MS + longestWriteMs;
  const seconds = Math.ceil(waitMs / 1_000);
  onWait?.({
    waitMs,
    reason: `a writer that has read the earlier count may still write to the other shards for ${seconds} seconds`,
  });
  await watch(clock, waitMs);
  if ((await store.readCount(value))?.version !== decreased.version) throw new ShardCountChangedError();
  return decreased;
}

/** The end of a drain. */
export interface DrainEnd extends CountChange {
  /** The value. Absent for an index that covers the whole table. */
  value?: string | number;
  /** The version that `decreaseShardCount` has returned. */
  version: number;
}

/**
 * Lets readers ask only the shards that writers use. Call it when no item of the value is left in the other shards, because
 * each was written again after `decreaseShardCount` had returned. It changes nothing if readers ask no other shards.
 *
 * @returns the counts that are stored then
 * @throws InvalidArgumentError, or one of its subclasses, if an argument is invalid
 * @throws ShardCountChangedError if the counts have changed since `decreaseShardCount`, so that writers may have used the other
 *   shards again
 * @throws what the store throws, if it cannot be read or written
 */
export async function endDrain(config: ShardedIndexConfig, store: ShardCountStore, end: DrainEnd): Promise<GrownCount> {
  adaptiveCountsOf(config);
  checkCountReader(config, store);
  checkChange(end);
  if (!Number.isSafeInteger(end.version) || end.version < 1) {
    throw new InvalidArgumentError('version', end.version, 'the version that decreaseShardCount has returned');
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
