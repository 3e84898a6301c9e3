import { HotPartitionTable } from '../../../lib/testing';
import { seededRandom } from '../../../lib/testing/seeded-random';

/** A write of the run: the partition key of the table, and that of the index. */
export interface HotWrite {
  readonly tableKey: string;
  readonly indexKey: string;
}

/** The counts of the minute, as CloudWatch has them, and the busiest keys. */
export interface RecordedRun {
  readonly consumed: number;
  readonly throttledByTable: number;
  readonly throttledByIndex: number;
  /** The accepted writes of each key of the index. */
  readonly accessed: ReadonlyMap<string, number>;
  /** The writes that the table throttled, by the key of the table. */
  readonly throttled: ReadonlyMap<string, number>;
}

/** The options of a run. */
export interface HotTableRun {
  readonly writesPerSecond: number;
  readonly tablePartitions: number;
  readonly indexPartitions: number;
  /** Called for each write, with a random number from 0 to 1. */
  write(random: () => number): HotWrite;
}

/** Writes evenly for a minute to a table that throttles by partition, and counts the writes. No write is repeated. */
export function recordedRun({ writesPerSecond, write, ...partitions }: HotTableRun): RecordedRun {
  let nowMs = 0;
  const random = seededRandom(1);
  const table = new HotPartitionTable({ now: () => nowMs, ...partitions });
  const [accessed, throttled] = [new Map<string, number>(), new Map<string, number>()];
  const count = (map: Map<string, number>, key: string) => map.set(key, (map.get(key) ?? 0) + 1);
  const counts = { consumed: 0, throttledByTable: 0, throttledByIndex: 0 };
  for (let n = 0; n < writesPerSecond * 60; n++) {
    nowMs = (n * 1_000) / writesPerSecond;
    const { tableKey, indexKey } = write(random);
    try {
      table.putItem(tableKey, indexKey);
      counts.consumed += 1;
      count(accessed, indexKey);
    } catch (error) {
      const { ThrottlingReasons } = error as { ThrottlingReasons: { reason: string }[] };
      const isOfIndex = ThrottlingReasons[0]!.reason.startsWith('Index');
      counts[isOfIndex ? 'throttledByIndex' : 'throttledByTable'] += 1;
      if (!isOfIndex) count(throttled, tableKey);
    }
  }
  return { ...counts, accessed, throttled };
}
