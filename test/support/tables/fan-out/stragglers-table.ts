import { FanOutHistory, fanOutQuery, type QueryClient } from '../../../../lib/core';
import { seededRandom } from '../../../../lib/testing/seeded-random';
import { VirtualClock } from '../../../../lib/testing/virtual-clock';
import { FakeIndex } from '../../fakes/fake-index';
import { timeIndex } from './time-index';

const PAGES = 2_000;
const LIMIT = 50;
const SLOW_SHARE = 0.01;
const MEDIAN_MS = 4;
const SIGMA = 0.35;
const SEED = 7;

export const STRAGGLER_CASES = [20, 100, 200].flatMap((shards) =>
  [0, 0.02].map((hedgeBudget) => ({ shards, hedgeBudget })),
);

export const STRAGGLERS_HEADER = ['shards, hedging', 'p50', 'p95', 'p99', 'extra requests'];

/**
 * The time that a page waits for its slowest shard. The model runs on a virtual clock, so the numbers are the same on
 * every machine. The time of a response has a lognormal distribution with a median of 4 ms. 1 % of the responses take
 * 30 to 70 ms more. The query knows the item sizes.
 */
export async function stragglersRow({ shards, hedgeBudget }: (typeof STRAGGLER_CASES)[number]): Promise<string[]> {
  const config = timeIndex(shards);
  const random = seededRandom(SEED);
  const index = new FakeIndex(config);
  for (let number = 0; number < shards * 20; number++) {
    const shard = Math.floor(random() * shards);
    index.put({ id: { S: `item-${number}` }, at: { N: String(number) }, shard: { N: String(shard) } });
  }
  const clock = new VirtualClock();
  const client: QueryClient = {
    query: async (input) => {
      await clock.sleep(latencyMs(random));
      return index.query(input);
    },
  };
  const options = { clock, concurrency: 256, history: new FanOutHistory(), hedgeBudget };
  const latencies: number[] = [];
  let [requests, hedged] = [0, 0];
  for (let page = 0; page < PAGES; page++) {
    const start = clock.now();
    const { stats } = await clock.runUntil(fanOutQuery(client, config, { limit: LIMIT }, options));
    index.requests.length = 0;
    latencies.push(clock.now() - start);
    requests += stats.requests;
    hedged += stats.hedged;
  }
  latencies.sort((a, b) => a - b);
  const at = (share: number): string => `${latencies[Math.floor(PAGES * share)]!.toFixed(1)} ms`;
  return [
    `${shards}, ${hedgeBudget === 0 ? 'none' : `${100 * hedgeBudget} %`}`,
    ...[0.5, 0.95, 0.99].map(at),
    `${((100 * hedged) / (requests - hedged)).toFixed(2)} %`,
  ];
}

function latencyMs(random: () => number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const slow = random() < SLOW_SHARE ? 30 + 40 * random() : 0;
  return MEDIAN_MS * Math.exp(SIGMA * normal) + slow;
}
