import fc from 'fast-check';
import { planReport } from '../../../bin/plan/plan-report';
import { keyPlacements } from '../../../bin/simulate/simulation';
import { type IndexPlan, type IndexTraffic, InvalidArgumentError, planIndex, planStream } from '../../../lib/core';
import { randomRuns, randomRunsTimeout } from '../../support/random-runs';

/** Compares the headline, the JSON and the code of a plan. */
const RUNS = randomRuns(400);

/** Returns undefined if the traffic needs more shards than allowed. */
function planned<T>(plan: () => T): T | undefined {
  try {
    return plan();
  } catch (error) {
    if (error instanceof InvalidArgumentError) return undefined;
    throw error;
  }
}

function number(text: string | undefined): number {
  return Number(text?.replaceAll(',', ''));
}

/** The shard count of each value in the TypeScript code of a plan. */
function countsIn(lines: readonly string[], values: readonly string[]): number[] {
  const code = lines.join('\n');
  const [, uniform] = /ShardCounts\.uniform\((\d+)\)/.exec(code) ?? [];
  if (uniform !== undefined) return values.length === 0 ? [Number(uniform)] : values.map(() => Number(uniform));
  const counts = new Map(
    [...code.matchAll(/^ +'([^']+)': (\d+),$/gm)].map(([, value, count]) => [value, Number(count)]),
  );
  return values.map((value) => counts.get(value) ?? 1);
}

const shares = fc.dictionary(fc.constantFrom(...'abcdefghijkl'), fc.integer({ min: 1, max: 1_000 }), { minKeys: 1 });
const indexTraffic: fc.Arbitrary<IndexTraffic> = fc.record(
  {
    writesPerSecond: fc.oneof(fc.integer({ min: 1, max: 3_000 }), fc.double({ min: 0.01, max: 3_000, noNaN: true })),
    itemKb: fc.constantFrom(0.3, 1, 2.5),
    utilization: fc.double({ min: 0.1, max: 0.6, noNaN: true }),
    partitions: fc.integer({ min: 1, max: 12 }),
    probability: fc.constantFrom(0.01, 0.05, 0.3, 0.8),
    shares,
    pagesPerSecond: fc.integer({ min: 0, max: 1_000 }),
  },
  { requiredKeys: ['writesPerSecond'] },
);

/** Returns the share of the writes that the busiest shard gets, if the index has these counts. */
function busiestShareOf(traffic: IndexTraffic, counts: readonly number[]): number {
  const weights = Object.values(traffic.shares ?? { all: 1 });
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return Math.max(...weights.map((weight, index) => weight / total / counts[index]!));
}

test(
  `the headline, the JSON and the code of ${RUNS} index plans have the same shard counts, and the busiest shard has the planned utilization`,
  () => {
    let plans = 0;
    fc.assert(
      fc.property(indexTraffic, (traffic) => {
        const plan = planned(() => planIndex(traffic));
        if (plan === undefined) return;
        plans += 1;
        const index = { traffic, plan, shardFormat: {}, tradeOffs: [], kind: 'index' as const };
        const report = planReport({ index }, 'typescript');
        const json: IndexPlan = JSON.parse(JSON.stringify(plan));
        const counts = countsIn(report, Object.keys(traffic.shares ?? {}));
        const inCode = counts.reduce((sum, count) => sum + count, 0);
        expect(number(/^index: ([\d,]+) shards? for/.exec(report[0]!)?.[1])).toBe(inCode);
        expect(json.shards).toBe(inCode);
        expect(Object.values(json.byValue ?? { all: json.shards })).toEqual(counts);
        expect(json.page.shards).toBe(Math.max(...counts));
        const units = traffic.writesPerSecond * Math.ceil(traffic.itemKb ?? 1);
        const ofShard = (units * busiestShareOf(traffic, counts)) / 1_000;
        const used = (name: string): number => json.limits.find(({ limit }) => limit === name)!.used;
        expect(used('writes to a shard') / ofShard).toBeCloseTo(1, 9);
        // The plan takes the largest count that a rule requires, so a shard is at most as busy as with this count.
        const needed = Math.max(...json.rules.map(({ shards }) => shards));
        expect(ofShard).toBeLessThanOrEqual((units / needed / 1_000) * (1 + 1e-9));
        expect(used('writes to the busiest partition, typically')).toBeLessThanOrEqual(
          used('writes to the busiest partition, at worst') + (traffic.probability! > 0.5 ? 0 : 1e-12),
        );
        expect(report.some((line) => line.includes('of one shard') && plan.page.shards === 1)).toBe(false);
      }),
      { numRuns: RUNS },
    );
    expect(plans).toBeGreaterThan(RUNS / 2);
  },
  randomRunsTimeout(300_000),
);

const streamTraffic = fc.record({
  recordsPerSecond: fc.integer({ min: 1, max: 50_000 }),
  bytesPerRecord: fc.integer({ min: 10, max: 5_000 }),
  keys: fc.integer({ min: 1, max: 200 }),
});

test(
  `the headline, the JSON and the code of ${RUNS} stream plans have the same shard count, and a simulation finds the planned utilization of the busiest shard`,
  () => {
    let plans = 0;
    fc.assert(
      fc.property(streamTraffic, ({ recordsPerSecond, bytesPerRecord, keys }) => {
        const bytesPerSecond = recordsPerSecond * bytesPerRecord;
        const traffic = { recordsPerSecond, bytesPerSecond, keys, balanced: true };
        const plan = planned(() => planStream(traffic));
        if (plan === undefined || plan.shards > 500) return;
        plans += 1;
        const report = planReport({ stream: { traffic, rateIsLimit: false, balanced: true, plan } }, 'typescript');
        const [, inCode] = /shardCount: (\d+)/.exec(report.join('\n'))!;
        expect(number(/^stream: ([\d,]+) shards? for/.exec(report[0]!)?.[1])).toBe(Number(inCode));
        expect(JSON.parse(JSON.stringify(plan)).shards).toBe(Number(inCode));
        const records = Array.from({ length: keys }, (_, key): [string, number] => [`key-${key}`, 1]);
        const simulated = keyPlacements(records, [Number(inCode)]).find(({ name }) => name === 'allocator')!;
        const ofShard = Math.max(recordsPerSecond / 1_000, bytesPerSecond / 1e6) / Number(inCode);
        const { used } = plan.limits.find(({ limit }) => limit === 'the busiest shard of whole keys')!;
        expect(used).toBeCloseTo(simulated.hottest[0]! * ofShard, 9);
      }),
      { numRuns: RUNS },
    );
    expect(plans).toBeGreaterThan(RUNS / 4);
  },
  randomRunsTimeout(300_000),
);
