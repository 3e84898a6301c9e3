import { FanOutHistory, type FanOutOptions, fanOutQuery, type QueryClient } from '../../lib/core';
import { seededRandom } from '../../lib/testing/seeded-random';
import { VirtualClock } from '../../lib/testing/virtual-clock';
import { FakeIndex } from '../fakes/fake-index';
import { timeIndex } from './fan-out/time-index';

/**
 * How long a page waits for its slowest shard, with and without hedging. A model on a virtual clock, so the numbers are
 * exact and the same everywhere: answers take a lognormal 4 ms in the median, and 1 % of them 30 to 70 ms more.
 *
 *     npm run bench fan-out-stragglers [pages]
 */

const SHARDS = [20, 100, 200];
const LIMIT = 50;
const HEDGE_BUDGET = 0.02;
const SLOW_SHARE = 0.01;
const MEDIAN_MS = 4;
const SIGMA = 0.35;
const SEED = 7;

interface Outcome {
  latencies: number[];
  requests: number;
  hedged: number;
}

async function measure(shards: number, pages: number, options: FanOutOptions): Promise<Outcome> {
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
  const outcome: Outcome = { latencies: [], requests: 0, hedged: 0 };
  for (let page = 0; page < pages; page++) {
    const start = clock.now();
    const query = fanOutQuery(client, config, { limit: LIMIT }, { clock, concurrency: 256, ...options });
    const { stats } = await clock.runUntil(query);
    index.requests.length = 0;
    outcome.latencies.push(clock.now() - start);
    outcome.requests += stats.requests;
    outcome.hedged += stats.hedged;
  }
  return outcome;
}

function latencyMs(random: () => number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const slow = random() < SLOW_SHARE ? 30 + 40 * random() : 0;
  return MEDIAN_MS * Math.exp(SIGMA * normal) + slow;
}

function row(shards: number, name: string, { latencies, requests, hedged }: Outcome): string {
  const sorted = latencies.sort((a, b) => a - b);
  const at = (share: number): string => sorted[Math.floor(sorted.length * share)]!.toFixed(1);
  const extra = `${((100 * hedged) / (requests - hedged)).toFixed(2)} %`;
  const cells = [at(0.5), at(0.95), at(0.99), extra].map((cell) => cell.padStart(9));
  return String(shards).padStart(6) + name.padStart(10) + cells.join('');
}

async function compare(pages: number): Promise<void> {
  console.log(`${pages} pages of ${LIMIT} items, milliseconds\n`);
  console.log(`shards   hedging${['p50', 'p95', 'p99', 'extra'].map((head) => head.padStart(9)).join('')}`);
  for (const shards of SHARDS) {
    console.log(row(shards, 'none', await measure(shards, pages, {})));
    const hedging = { history: new FanOutHistory(), hedgeBudget: HEDGE_BUDGET };
    console.log(row(shards, '2 %', await measure(shards, pages, hedging)));
  }
}

const [pages = 2_000] = process.argv.slice(2).map(Number);
void compare(pages);
