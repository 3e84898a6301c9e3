import { readFileSync } from 'node:fs';
import type { Client } from 'pg';
import { OrderedProducer } from '../../../lib/core';
import { OutboxRelay, type OutboxRelayOptions } from '../../../lib/core/outbox';

import { tuned } from '../../support/postgres/tuned';
import { printTable, rounded } from '../../support/tables/producer/table';
import { pause } from './approaches';
import { fillOutbox } from './backlog';
import { stubKinesis } from './stub-kinesis';

interface Backlog {
  readonly rows: number;
  readonly keys: number;
  /** @default 100 bytes with the key */
  readonly dataBytes?: number;
}

const BACKLOGS: readonly Backlog[] = [
  { rows: 200_000, keys: 1 },
  { rows: 200_000, keys: 100 },
  { rows: 200_000, keys: 10_000 },
  { rows: 1_000_000, keys: 1_000_000 },
  { rows: 20_000, keys: 1, dataBytes: 10_000 },
  { rows: 20_000, keys: 10_000, dataBytes: 10_000 },
];

/** The clock ticks of Linux in a second. Source: proc(5), and the default of sysconf(_SC_CLK_TCK). */
const TICKS_PER_SECOND = 100;

/**
 * Measures the processor time for each row, of the relay and of its session on the server. This time hardly depends on
 * other work of the machine.
 */
export async function benchProcessorTime(client: Client, relayClient: Client): Promise<void> {
  console.log('microseconds of processor time a row of a backlog\n');
  const table: string[][] = [];
  await client.query('SELECT outbox.divide(1)');
  for (const { rows, keys, dataBytes } of BACKLOGS) {
    for (const aggregation of ['per-key', 'packed'] as const) {
      await client.query('TRUNCATE outbox.message, outbox.parked');
      await fillOutbox(client, rows, keys, dataBytes);
      const { relay, server } = await timeOf(relayClient, rows, aggregation);
      const mostPerSecond = 1_000_000 / Math.max(relay, server);
      table.push([
        `${rounded(rows)} rows${dataBytes === undefined ? '' : ' of 10 kB'}, ${rounded(keys)} key${keys === 1 ? '' : 's'}${aggregation === 'packed' ? ', aggregates across keys' : ''}`,
        rounded(relay, 1),
        rounded(server, 1),
        rounded(mostPerSecond),
      ]);
    }
  }
  printTable(['microseconds a row', 'relay', 'server', 'rows a second, with a core for each'], table);
}

type Aggregation = 'per-key' | 'packed';

async function timeOf(
  client: Client,
  rows: number,
  aggregation: Aggregation,
): Promise<{ relay: number; server: number }> {
  const [cpu, before] = [process.cpuUsage(), await serverSecondsOf(client)];
  await relayBacklog(client, rows, aggregation);
  const { user, system } = process.cpuUsage(cpu);
  return { relay: (user + system) / rows, server: (1_000_000 * ((await serverSecondsOf(client)) - before)) / rows };
}

/** Runs the relay until it has sent and recorded this number of rows. */
export async function relayBacklog(
  client: Client,
  rows: number,
  aggregation: Aggregation,
  options: OutboxRelayOptions = {},
): Promise<void> {
  const producer = new OrderedProducer(stubKinesis(1), { streamName: 'Events', aggregation });
  const relay = new OutboxRelay(client, producer, tuned({ leaseMs: 200, ...options }));
  const abort = new AbortController();
  const running = relay.run({ signal: abort.signal });
  while (relay.summary().relayed < rows) await pause(5);
  abort.abort();
  await running;
}

/** The processor time that the server process of a client has used. NaN on a system without `/proc`. */
export async function serverSecondsOf(client: Client): Promise<number> {
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
  try {
    const fields = readFileSync(`/proc/${rows[0].pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  } catch {
    return Number.NaN;
  }
}
