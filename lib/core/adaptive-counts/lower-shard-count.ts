import { type Clock, systemClock } from '../foundation/clock';
import { InvalidArgumentError } from '../foundation/errors';
import { checkIndexShardCount } from '../foundation/shard-count';
import { InvalidIndexValueError, type ShardedIndexConfig } from '../sharded-index';
import { adaptiveCountsOf, checkCountReader, countedValue } from './adaptive-config';
import { ShardCountChangedError } from './adaptive-count-errors';
import { type CountChange, checkChange, watch, writeNext } from './change-count';
import { OUTLIVED_AFTER_MS } from './copy-life';
import type { GrownCount } from './grown-count';
import type { ShardCountStore } from './shard-count-store';

/** How many shards the writers of a value go back to, and why. */
export interface ShardCountLowering extends CountChange {
  /** The value. Absent for an index that covers the whole table. */
  value?: string | number;
  /** How many shards writers will use, from 1 to the number that they use. */
  to: number;
}

/** Options of `lowerShardCount`. */
export interface LowerShardCountOptions {
  /**
   * How long it takes at most, in milliseconds, from the moment when a writer asks for the configuration to the moment when
   * its write has arrived or never will, retries included.
   * @default 15 minutes, as long as a Lambda invocation takes at most
   */
  longestWriteMs?: number;
  /**
   * The clock for the wait.
   * @default the clock of the system
   */
  clock?: Clock;
}

/** Source: the AWS Lambda quotas, function timeout. */
const LONGEST_INVOCATION_MS = 15 * 60_000;

/**
 * Takes the writers of one value back to fewer shards, and waits until no further write can arrive in the other shards.
 * Readers go on asking all shards. Then write the items of the other shards again, as `reshardItems` does, and let
 * `endDrain` take the readers back:
 *
 *     const lowered = await lowerShardCount(config, store, { value: 'shipped', to: 2, reason, changedBy });
 *     // drain every segment: reshardItems(client, index, { segment, totalSegments }), with the AdaptiveIndex
 *     await endDrain(config, store, { value: 'shipped', version: lowered.version, reason, changedBy });
 *
 * The call may be interrupted at any point and repeated: each call waits the whole time itself.
 *
 * @param config the configuration that the index emits
 * @param store holds the counts of that index
 * @returns the counts that are stored then, whose version `endDrain` takes
 * @throws InvalidArgumentError, or one of its subclasses, before anything is written, if an argument is invalid, or if
 *   writers use fewer shards already
 * @throws ShardCountChangedError if somebody else changes the counts of the value at the same time
 * @throws what the store throws, if it cannot be read or written
 */
export async function lowerShardCount(
  config: ShardedIndexConfig,
  store: ShardCountStore,
  lowering: ShardCountLowering,
  { longestWriteMs = LONGEST_INVOCATION_MS, clock = systemClock }: LowerShardCountOptions = {},
): Promise<GrownCount> {
  adaptiveCountsOf(config);
  checkCountReader(config, store);
  checkChange(lowering);
  if (!Number.isFinite(longestWriteMs) || longestWriteMs < 0) {
    throw new InvalidArgumentError('longestWriteMs', longestWriteMs, 'a number of milliseconds of at least 0');
  }
  const value = countedValue(config, lowering.value);
  const before = await store.readCount(value);
  if (before === undefined) throw new InvalidIndexValueError('value', lowering.value, 'a value that has grown');
  checkIndexShardCount('to', lowering.to, before.write);
  const next = { ...before, write: lowering.to };
  const lowered = before.write === lowering.to ? before : await writeNext(store, before, next, lowering);
  if (lowered === undefined) throw new ShardCountChangedError();
  await watch(clock, OUTLIVED_AFTER_MS + longestWriteMs);
  if ((await store.readCount(value))?.version !== lowered.version) throw new ShardCountChangedError();
  return lowered;
}

/** The end of a drain. */
export interface DrainEnd extends CountChange {
  /** The value. Absent for an index that covers the whole table. */
  value?: string | number;
  /** The version that `lowerShardCount` has returned. */
  version: number;
}

/**
 * Lets readers ask only the shards that writers use. Call it when no item of the value is left in the other shards, because
 * each was written again after `lowerShardCount` had returned. It changes nothing if readers ask no other shards.
 *
 * @returns the counts that are stored then
 * @throws InvalidArgumentError, or one of its subclasses, if an argument is invalid
 * @throws ShardCountChangedError if the counts have changed since `lowerShardCount`, so that writers may have used the other
 *   shards again
 * @throws what the store throws, if it cannot be read or written
 */
export async function endDrain(config: ShardedIndexConfig, store: ShardCountStore, end: DrainEnd): Promise<GrownCount> {
  adaptiveCountsOf(config);
  checkCountReader(config, store);
  checkChange(end);
  if (!Number.isSafeInteger(end.version) || end.version < 1) {
    throw new InvalidArgumentError('version', end.version, 'the version that lowerShardCount has returned');
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
