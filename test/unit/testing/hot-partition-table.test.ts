import { ProvisionedThroughputExceededException } from '@aws-sdk/client-dynamodb';
import { overloadProbability, planIndex } from '../../../lib/core';
import { HotPartitionTable } from '../../../lib/testing/hot-partition-table';
import { seededRandom } from '../../../lib/testing/seeded-random';

const tables = { tablePartitions: 4, indexPartitions: 4 };

/**
 * Makes this number of attempts at the same moment. Returns how many attempts succeed, and the error of the first
 * attempt that fails.
 */
function attempt(attempts: number, act: () => void): { taken: number; refused: unknown } {
  for (let taken = 0; taken < attempts; taken++) {
    try {
      act();
    } catch (refused) {
      return { taken, refused };
    }
  }
  return { taken: attempts, refused: undefined };
}

describe('HotPartitionTable', () => {
  test('accepts 1,000 write units a second in a partition, and the error of a throttled write names the table', () => {
    const table = new HotPartitionTable({ ...tables, now: () => 0 });
    let write = 0;
    const { taken, refused } = attempt(2_000, () => table.putItem('order-1', `shard-${write++}`));
    expect(taken).toBe(1_000);
    expect(refused).toBeInstanceOf(ProvisionedThroughputExceededException);
    expect((refused as ProvisionedThroughputExceededException).ThrottlingReasons).toEqual([
      { reason: 'TableWriteKeyRangeThroughputExceeded', resource: table.tableArn },
    ]);
  });

  test('throttles a write to an idle table if the partition of its index entry is hot (DynamoDB calls this back-pressure)', () => {
    const table = new HotPartitionTable({ tablePartitions: 1_000, indexPartitions: 4, now: () => 0 });
    let write = 0;
    const { taken, refused } = attempt(2_000, () => table.putItem(`order-${write++}`, 'pending'));
    expect(taken).toBe(1_000);
    expect((refused as ProvisionedThroughputExceededException).ThrottlingReasons).toEqual([
      { reason: 'IndexWriteKeyRangeThroughputExceeded', resource: table.indexArn },
    ]);
  });

  test('accepts 3,000 read units a second in a partition of the index', () => {
    const table = new HotPartitionTable({ ...tables, now: () => 0 });
    const { taken, refused } = attempt(10_000, () => table.queryIndex('pending', 0.5));
    expect(taken).toBe(6_000);
    expect((refused as ProvisionedThroughputExceededException).ThrottlingReasons).toEqual([
      { reason: 'IndexReadKeyRangeThroughputExceeded', resource: table.indexArn },
    ]);
  });

  test('refills its capacity over time, up to one second of capacity', () => {
    let now = 0;
    const table = new HotPartitionTable({ tablePartitions: 1_000, indexPartitions: 1, now: () => now });
    let write = 0;
    const put = () => table.putItem(`order-${write++}`, 'pending');
    expect(attempt(2_000, put).taken).toBe(1_000);
    now = 100;
    expect(attempt(2_000, put).taken).toBe(100);
    now = 60_000;
    expect(attempt(2_000, put).taken).toBe(1_000);
  });
});

describe('an index with the number of shards that the planner recommends', () => {
  const writesPerSecond = 2_000;
  const PLACEMENTS = 40;
  const { shards, partitions } = planIndex({ writesPerSecond });
  const [WARM_UP_SECONDS, SECONDS] = [4, 3];

  /** The throttled share of the writes in steady state, for several placements of the shards. */
  function throttledParts(shardCount: number, placements = PLACEMENTS): number[] {
    return Array.from({ length: placements }, (_, placement) => {
      const random = seededRandom(placement);
      let now = 0;
      const salt = String(placement);
      const table = new HotPartitionTable({ tablePartitions: 64, indexPartitions: partitions, salt, now: () => now });
      let throttled = 0;
      for (let write = 0; write < writesPerSecond * (WARM_UP_SECONDS + SECONDS); write++) {
        now = (write * 1_000) / writesPerSecond;
        try {
          table.putItem(`order-${write % 5_000}`, `pending#${Math.floor(random() * shardCount)}`);
        } catch {
          throttled += Number(now >= WARM_UP_SECONDS * 1_000);
        }
      }
      return throttled / (writesPerSecond * SECONDS);
    });
  }

  const mean = (parts: number[]) => parts.reduce((sum, part) => sum + part, 0) / parts.length;
  const visibly = (parts: number[]) => parts.filter((part) => part > 0.01).length;

  test('throttles less than 1 % of the writes; with half of the shards, more writes are throttled, and with one shard, half of the writes are throttled', () => {
    const [planned, half, one] = [throttledParts(shards), throttledParts(shards / 2), throttledParts(1, 2)];
    expect({ shards, partitions }).toEqual({ shards: 16, partitions: 4 });
    expect(mean(planned)).toBeLessThan(0.01);
    expect(visibly(planned)).toBeLessThanOrEqual(0.05 * PLACEMENTS);
    expect(mean(half)).toBeGreaterThan(4 * mean(planned));
    expect(visibly(half)).toBeGreaterThan(Math.max(2, visibly(planned)));
    expect(Math.max(...half)).toBeGreaterThan(0.05);
    expect(mean(one)).toBeCloseTo(0.5, 2);
  });

  test('has an overload probability below 5 % according to the planner; with half of the shards, the probability is several times as high', () => {
    const at = (count: number) => overloadProbability({ shards: count, partitions, utilization: 0.5 });
    expect(at(shards)).toBeLessThan(0.05);
    expect(at(shards / 2)).toBeGreaterThan(3 * at(shards));
  });
});
