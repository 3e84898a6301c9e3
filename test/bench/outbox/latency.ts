import type { Client } from 'pg';
import { OrderedProducer } from '../../../lib/core';
import { OutboxRelay } from '../../../lib/core/outbox';
import { printTable, rounded } from '../producer/table';
import { pause } from './approaches';
import { stubKinesis } from './stub-kinesis';

const PUTS = 200;

/** From the commit of a row, in a system that does nothing else, to the request that carries it. */
export async function benchLatency(client: Client, relayClient: Client): Promise<void> {
  let arrived = (): void => {};
  const kinesis = stubKinesis(0, () => arrived());
  const relay = new OutboxRelay(relayClient, new OrderedProducer(kinesis, { streamName: 'Events', aggregation: true }));
  const abort = new AbortController();
  const running = relay.run({ signal: abort.signal });
  await pause(2_000);
  const times: number[] = [];
  for (let n = 0; n < PUTS; n++) {
    const arrival = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const startedAt = performance.now();
    await client.query("SELECT outbox.put('key', 'x')");
    await arrival;
    times.push(performance.now() - startedAt);
    await pause(10 + 20 * Math.random());
  }
  abort.abort();
  await running;
  times.sort((a, b) => a - b);
  const at = (part: number): string => rounded(times[Math.floor(part * (PUTS - 1))]!, 1);
  console.log(`from the call of put to the request to Kinesis, idle system, ${PUTS} puts, milliseconds\n`);
  printTable(['median', '90th percentile', '99th percentile', 'longest'], [[at(0.5), at(0.9), at(0.99), at(1)]]);
}
