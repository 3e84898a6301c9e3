import { readFileSync } from 'node:fs';
import type { Client } from 'pg';
import { OrderedProducer } from '../../../lib/core';
import { OutboxRelay, type OutboxRelayOptions } from '../../../lib/core/outbox';
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
  for (const keys of [1, 100, 10_000]) {
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

type Aggregation = 'per-key' | 'packed';

async function timeOf(client: Client, aggregation: Aggregation): Promise<{ relay: number; server: number }> {
  const [cpu, before] = [process.cpuUsage(), await serverSecondsOf(client)];
  await relayBacklog(client, ROWS, aggregation);
  const { user, system } = process.cpuUsage(cpu);
  return { relay: (user + system) / ROWS, server: (1_000_000 * ((await serverSecondsOf(client)) - before)) / ROWS };
}

/** Relays until so many rows are sent and noted. */
export async function relayBacklog(
  client: Client,
  rows: number,
  aggregation: Aggregation,
  options: OutboxRelayOptions = {},
): Promise<void> {
  const producer = new OrderedProducer(stubKinesis(1), { streamName: 'Events', aggregation });
  const relay = new OutboxRelay(client, producer, { leaseMs: 200, ...options });
  const abort = new AbortController();
  const running = relay.run({ signal: abort.signal });
  while (relay.summary().relayed < rows) await pause(5);
  abort.abort();
  await running;
}

/** What the session of a client has taken of the server's processors. Not a number where there is no `/proc`. */
export async function serverSecondsOf(client: Client): Promise<number> {
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
  try {
    const fields = readFileSync(`/proc/${rows[0].pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  } catch {
    return Number.NaN;
  }
}
