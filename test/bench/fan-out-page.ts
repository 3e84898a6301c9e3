import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { printTable } from '../support/guide-table';
import { APPROACHES, LIMIT, serveApproach, type Timing, type Turn } from './fan-out-page/approaches';
import { STUB, serveQueries, startQueryStub } from './fan-out-page/query-stub';

/**
 * Measures the wall time and the CPU time of one ordered page over N shards with several clients. A stub in another process
 * responds over TLS after a few milliseconds. Each client has its own process, so that no client collects the garbage
 * of another client. Every round measures each client once.
 *
 *     npm run bench fan-out-page [rounds] [latency in ms] [part of a name...]
 */

const SHARDS = [10, 50, 200];
/** The number of requests of one measurement and of the warm-up. A page takes one request for each shard. */
const TURN = 200;
const WARM_UP = 2_000;
const APPROACH = 'approach';
const SDK = 'SDK, `Promise.all`';

async function compare(rounds: number, latencyMs: number, parts: readonly string[]): Promise<void> {
  const stub = await startQueryStub(__filename, latencyMs);
  const names = Object.keys(APPROACHES).filter(
    (name) => parts.length === 0 || parts.some((part) => name.includes(part)),
  );
  const children = names.map((name) => fork(__filename, [APPROACH, name, stub.endpoint]));
  const timings: Timing[][] = [];
  for (const shards of SHARDS) timings.push(await takeTurns(children, shards, rounds));
  for (const child of children) child.disconnect();
  stub.stop();
  console.log(`a page of ${LIMIT} items of 300 bytes; ${latencyMs} ms latency; medians of ${rounds} rounds\n`);
  const sdk = names.indexOf(SDK);
  const rows = names.map((name, row) => [name, ...timings.map((each) => cellOf(each[row]!, each[sdk]))]);
  const header = ['', ...SHARDS.map((shards) => `N = ${shards}: wall, CPU`)];
  if (parts.length > 0) return console.table([header, ...rows]);
  printTable(header, rows);
}

async function takeTurns(children: readonly ChildProcess[], shards: number, rounds: number): Promise<Timing[]> {
  for (const child of children) await turnOf(child, { shards, pages: WARM_UP / shards });
  const samples = children.map((): Timing[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, child] of children.entries()) {
      samples[index]!.push(await turnOf(child, { shards, pages: TURN / shards }));
    }
  }
  return samples.map((taken) => ({
    wallMs: median(taken.map(({ wallMs }) => wallMs)),
    cpuMs: median(taken.map(({ cpuMs }) => cpuMs)),
  }));
}

async function turnOf(child: ChildProcess, turn: Turn): Promise<Timing> {
  const taken = once(child, 'message');
  child.send(turn);
  const [timing] = await taken;
  return timing;
}

const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)]!;

/** Prints the wall time, the CPU time, and the CPU time as a fraction of the CPU time of the SDK. */
function cellOf({ wallMs, cpuMs }: Timing, sdk: Timing | undefined): string {
  const ratio = sdk === undefined ? '' : ` (${(cpuMs / sdk.cpuMs).toFixed(2)})`;
  return `${milliseconds(wallMs)}, ${milliseconds(cpuMs)}${ratio}`;
}

function milliseconds(value: number): string {
  return `${value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString('en-US')} ms`;
}

const [first, second, ...rest] = process.argv.slice(2);
if (first === STUB) serveQueries(Number(second));
else if (first === APPROACH) serveApproach(second!, rest[0]!);
else void compare(Number(first ?? 15), Number(second ?? 4), rest);
