import { deaggregate, OrderedProducer, type OrderedProducerOptions, type UserRecord } from '../../../lib/core';
import { systemClock } from '../../../lib/core/kernel/clock';
import type { OutboxRelay, RelaySummary } from '../../../lib/core/outbox';
import type { TunedRelayOptions } from '../../../lib/core/outbox/relay-options';
import { FakeKinesis, type FakeKinesisOptions } from '../../../lib/testing/fake-kinesis';
import type { VirtualClock } from '../../../lib/testing/virtual-clock';

/** Short intervals, so that a test does not wait for a relay. */
export const FAST: TunedRelayOptions = { leaseMs: 20, saveMs: 20, retryMs: 20, pollMs: 50, onReconnect: () => {} };

const DEADLINE_MS = 15_000;

/** A fake stream in real time. */
export function realTimeKinesis(options: Partial<FakeKinesisOptions> = {}): FakeKinesis {
  return new FakeKinesis({ clock: systemClock as unknown as VirtualClock, shardCount: 1, ...options });
}

export function producerFor(kinesis: FakeKinesis, options: Partial<OrderedProducerOptions> = {}): OrderedProducer {
  return new OrderedProducer(kinesis, { streamName: 'Events', aggregation: true, ...options });
}

export function recordsIn(kinesis: FakeKinesis): UserRecord[] {
  return kinesis.records().flatMap((record) => deaggregate(record));
}

/** The data in the stream, of one key or of all keys. */
export function textsIn(kinesis: FakeKinesis, key?: string): string[] {
  const records = recordsIn(kinesis).filter(({ partitionKey }) => key === undefined || partitionKey === key);
  return records.map(({ data }) => Buffer.from(data).toString());
}

export async function until(isTrue: () => boolean | Promise<boolean>, deadlineMs = DEADLINE_MS): Promise<void> {
  for (const end = Date.now() + deadlineMs; Date.now() < end; await systemClock.sleep(10)) if (await isTrue()) return;
  throw new Error('the condition did not become true in time');
}

/** Relays that run until the test stops them. */
export class RunningRelays {
  private readonly running: { abort: AbortController; ended: Promise<unknown> }[] = [];

  start(
    relay: OutboxRelay,
    options: { standsBy?: boolean } = {},
  ): { ended: Promise<RelaySummary>; stop(): Promise<RelaySummary> } {
    const abort = new AbortController();
    const ended = relay.run({ signal: abort.signal, ...options });
    ended.catch(() => {});
    this.running.push({ abort, ended });
    const stop = () => {
      abort.abort();
      return ended;
    };
    return { ended, stop };
  }

  async stop(): Promise<void> {
    for (const { abort } of this.running) abort.abort();
    await Promise.allSettled(this.running.splice(0).map(({ ended }) => ended));
  }
}
