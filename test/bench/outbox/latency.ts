import type { Client } from 'pg';
import { OrderedProducer } from '../../../lib/core';
import { OutboxRelay } from '../../../lib/core/outbox';

import { printTable, rounded } from '../../support/tables/producer/table';
import { pause } from './approaches';
import { stubKinesis } from './stub-kinesis';

const PUTS = 200;

/**
 * Measures the time from `put` to the request with the row, on an idle system. The baseline is the time of a Postgres
 * notification between two sessions, which no relay can avoid.
 */
export async function benchLatency(client: Client, relayClient: Client): Promise<void> {
  let arrived = (): void => {};
  const kinesis = stubKinesis(0, () => arrived());
  const relay = new OutboxRelay(relayClient, new OrderedProducer(kinesis, { streamName: 'Events', aggregation: true }));
  const abort = new AbortController();
  const running = relay.run({ signal: abort.signal });
  await pause(2_000);
  const notified = (): void => arrived();
  const ways: Record<string, () => Promise<unknown>> = {
    '`put` to the request to Kinesis': () => client.query("SELECT outbox.put('key', 'x')"),
    'a notification alone': () => client.query("SELECT pg_notify('outbox', '')"),
  };
  const times = Object.entries(ways).map(([name]) => [name, [] as number[]] as const);
  // The measurements alternate, so other work of the machine affects both equally.
  for (let n = 0; n < PUTS; n++) {
    for (const [name, taken] of times) {
      const isAlone = name === 'a notification alone';
      if (isAlone) relayClient.on('notification', notified);
      const arrival = new Promise<void>((resolve) => {
        arrived = resolve;
      });
      const startedAt = performance.now();
      await ways[name]!();
      await arrival;
      taken.push(performance.now() - startedAt);
      if (isAlone) relayClient.removeListener('notification', notified);
      await pause(10 + 20 * Math.random());
    }
  }
  abort.abort();
  await running;
  console.log(`idle system, ${PUTS} times\n`);
  printTable(
    ['milliseconds', 'median', '90th percentile', '99th percentile', 'longest'],
    times.map(([name, taken]) => {
      taken.sort((a, b) => a - b);
      return [name, ...[0.5, 0.9, 0.99, 1].map((part) => rounded(taken[Math.floor(part * (PUTS - 1))]!, 1))];
    }),
  );
}
