import { readFileSync } from 'node:fs';
import type { Client } from 'pg';
import { OrderedProducer } from '../../../lib/core';
import { OutboxRelay } from '../../../lib/core/outbox';
import { rounded } from '../../support/tables/producer/table';
import { pause } from './approaches';
import { fillOutbox } from './backlog';
import { writeTable } from './guide';
import { stubKinesis } from './stub-kinesis';

const ROWS = 200_000;

/** How Linux counts a process' time. Source: proc(5), and the default of sysconf(_SC_CLK_TCK). */
const TICKS_PER_SECOND = 100;

/** What a row takes of processors, the relay's and its session's: what else the machine does hardly changes it. */
export async function benchProcessorTime(client: Client, relayClient: Client): Promise<void> {
  console.log(`microseconds of processor time a row of 100 bytes, of a backlog of ${rounded(ROWS)}\n`);
  const table: string[][] = [];
  await client.query('SELECT outbox.divide(1)');
  for (const keys of [1, 10_000]) {
    for (const aggregation of ['per-key', 'packed'] as const) {
      await client.query('TRUNCATE outbox.message, outbox.parked');
      await fillOutbox(client, ROWS, keys);
      const { relay, server } = await timeOf(relayClient, aggregation);
      const mostPerSecond = 1_000_000 / Math.max(relay, server);
      table.push([
        `${rounded(keys)} key${keys === 1 ? '' : 's'}${aggregation === 'packed' ? ', packs' : ''}`,
        rounded(relay, 1),
        rounded(server, 1),
        rounded(mostPerSecond),
      ]);
    }
  }
  writeTable('processor-time', ['microseconds a row', 'relay', 'server', 'rows a second, with a core for each'], table);
}

async function timeOf(client: Client, aggregation: 'per-key' | 'packed'): Promise<{ relay: number; server: number }> {
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
  const producer = new OrderedProducer(stubKinesis(1), { streamName: 'Events', aggregation });
  const relay = new OutboxRelay(client, producer, { leaseMs: 200 });
  const abort = new AbortController();
  const [cpu, ticks] = [process.cpuUsage(), ticksOf(rows[0].pid)];
  const running = relay.run({ signal: abort.signal });
  while (relay.summary().relayed < ROWS) await pause(5);
  const { user, system } = process.cpuUsage(cpu);
  const serverSeconds = (ticksOf(rows[0].pid) - ticks) / TICKS_PER_SECOND;
  abort.abort();
  await running;
  return { relay: (user + system) / ROWS, server: (1_000_000 * serverSeconds) / ROWS };
}

/** Not a number where there is no `/proc`. */
function ticksOf(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
    return Number(fields[11]) + Number(fields[12]);
  } catch {
    return Number.NaN;
  }
}
