import { EARLIER_COUNTS_EXPIRE_AFTER_MS, MAX_COUNT_AGE_MS } from '../../../../lib/core/adaptive-counts/count-age';
import { nextShardCount, type WriteMinute } from '../../../../lib/core/adaptive-counts/next-shard-count';
import { hashPartitionKey } from '../../../../lib/core/stream-format/hash-key-space';

/** Source: the DynamoDB developer guide. A partition has 1,000 write units per second. */
const PARTITION_UNITS = 1_000;
/** The time after which a throttled partition is split. This is an assumption, because AWS documents no time. */
const SPLIT_AFTER_MINUTES = 5;
/** The maximum number of attempts that a writer makes for one write. */
const ATTEMPTS = 3;
/** The average delay from the end of a minute to the next run of the controller, which runs every minute. */
const LOOK_MS = 30_000;
const MINUTE_MS = 60_000;

/** The place of a shard in the hash space of the index, from 0 to 1. */
const placeOf = (value: string, shard: number) => Number(hashPartitionKey(`4 ${value}#${shard}`)) / 2 ** 128;

interface Value {
  readonly name: string;
  before: number;
  shards: number;
  /** The time at which writers start to use `shards`. */
  increasedAt: number;
  readonly seen: WriteMinute[];
}

/**
 * Simulates the writes to an index with 16 partitions, minute by minute. The hash of a shard determines its partition.
 * A partition that was throttled for five minutes is split between two shards, so that both parts have about the same
 * load. The policy of the library determines the shard counts from the throttled writes that writers report.
 *
 * @param demand the write units per second that the writers of each value need
 */
function simulate(demand: Readonly<Record<string, (minute: number) => number>>, minutes = 40) {
  const values = Object.keys(demand).map((name): Value => {
    return { name, before: 1, shards: 1, increasedAt: Number.NEGATIVE_INFINITY, seen: [] };
  });
  let partitions = Array.from({ length: 16 }, (_, number) => ({ start: number / 16, hotMinutes: 0 }));
  const throttledShares: number[] = [];
  const counts: Record<string, number>[] = [];
  let increases = 0;
  for (let minute = 0; minute < minutes; minute++) {
    const now = (minute + 1) * MINUTE_MS;
    const loads = values.flatMap((value) => {
      const shards = now > value.increasedAt ? value.shards : value.before;
      const units = demand[value.name]!(minute) / shards;
      return Array.from({ length: shards }, (_, shard) => ({ value, units, place: placeOf(value.name, shard) }));
    });
    const throttled = new Map<Value, number>();
    partitions = partitions.flatMap((partition, index) => {
      const end = partitions[index + 1]?.start ?? 1;
      const own = loads.filter(({ place }) => partition.start <= place && place < end);
      const total = own.reduce((sum, { units }) => sum + units, 0);
      if (total <= PARTITION_UNITS) return [{ ...partition, hotMinutes: 0 }];
      // If each attempt is throttled with probability p, the admitted part of the writes is 1 - p^3.
      const p = (1 - PARTITION_UNITS / total) ** (1 / ATTEMPTS);
      for (const { value, units } of own) throttled.set(value, (throttled.get(value) ?? 0) + p * units);
      if (partition.hotMinutes + 1 < SPLIT_AFTER_MINUTES)
        return [{ ...partition, hotMinutes: partition.hotMinutes + 1 }];
      const places = own.sort((a, b) => a.place - b.place);
      let below = 0;
      const middle = places.findIndex(({ units }) => {
        below += units;
        return below > total / 2;
      });
      // A partition with a single shard is not split.
      const upper = places[Math.max(1, middle)];
      const starts = [partition.start, ...(upper === undefined ? [] : [upper.place])];
      return starts.map((start) => ({ start, hotMinutes: 0 }));
    });
    const wanted = loads.reduce((sum, { units }) => sum + units, 0);
    throttledShares.push([...throttled.values()].reduce((sum, units) => sum + units, 0) / wanted);
    counts.push(Object.fromEntries(values.map(({ name, shards }) => [name, shards])));
    for (const value of values) {
      const units = throttled.get(value) ?? 0;
      const admitted = demand[value.name]!(minute) - units;
      if (units > 0) value.seen.push({ start: minute * MINUTE_MS, admitted: 60 * admitted, throttled: 60 * units });
      const since = value.increasedAt + MAX_COUNT_AGE_MS;
      if (now < since) continue;
      const situation = { shards: value.shards, maximum: 100, minutes: value.seen.slice(-30), since, now };
      const { decision, shards } = nextShardCount(situation);
      if (decision !== 'increase') continue;
      increases += 1;
      const increasedAt = now + LOOK_MS + EARLIER_COUNTS_EXPIRE_AFTER_MS;
      Object.assign(value, { before: value.shards, shards, increasedAt });
    }
  }
  return { throttledShares, counts, increases };
}

const hot = (minute: number): number => (minute < 5 ? 200 : 8_000);

describe('a value whose writes increase to 8,000 per second', () => {
  test('gets enough shards within ten minutes because its writers report throttled writes, and is not throttled after 25 minutes', () => {
    const { counts, throttledShares } = simulate({ hot });
    expect(counts[9]).toEqual({ hot: 10 });
    expect(Math.max(...throttledShares.slice(25))).toBeLessThan(0.001);
  });

  test('does not change the counts of other values in the same hot partitions, which keep one shard each', () => {
    const rare = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`rare ${at}`, () => 2.5]));
    const { hot: count, ...others } = simulate({ hot, ...rare }).counts.at(-1)!;
    expect(count).toBeGreaterThanOrEqual(10);
    expect(new Set(Object.values(others))).toEqual(new Set([1]));
  });
});

test('bursts of two minutes increase a count to the necessary count and not further', () => {
  const bursts = (minute: number): number => (minute % 30 < 2 ? 4_000 : 200);
  const { counts, increases } = simulate({ hot: bursts }, 600);
  expect(counts.at(-1)!.hot).toBeGreaterThanOrEqual(5);
  expect(counts.at(-1)!.hot).toBeLessThanOrEqual(10);
  expect(increases).toBeLessThanOrEqual(2);
});
