import type { FakeKinesis, VirtualClock } from '../../../lib/testing';
import type { StoredRecord } from '../../../lib/testing/fake-shard';
import { EventSource } from './event-source';

/** What decides how a function of an event source mapping gets on. */
export interface ConsumerSettings {
  /** How many records a minute one batch after the other takes. */
  readonly recordsAMinute: number;
  readonly parallelizationFactor: number;
  /** A record that fails is set aside. Without this it is tried for ever, and its shard waits. */
  readonly hasOnFailure: boolean;
  /** How long the stream keeps a record. */
  readonly retentionMs: number;
}

/** Nobody here looks at less than a minute. */
const POLL_MS = 10_000;

/** A function that takes its time, behind an event source mapping of a simulated stream. */
export class SlowConsumer {
  private readonly source: EventSource;

  constructor(
    kinesis: FakeKinesis,
    private readonly clock: VirtualClock,
    private readonly fails: (record: StoredRecord) => boolean,
    private settings: ConsumerSettings,
  ) {
    this.source = new EventSource(
      clock,
      () => kinesis.shards,
      (batch) => this.handle(batch),
    );
  }

  get setAside(): readonly StoredRecord[] {
    return this.source.discarded;
  }

  /** What the stream had no more when its turn came. */
  get lost(): readonly StoredRecord[] {
    return this.source.expired;
  }

  /** Begins to work, or goes on with other settings. */
  async work(changes: Partial<ConsumerSettings> = {}): Promise<void> {
    this.settings = { ...this.settings, ...changes };
    const { parallelizationFactor: workers, hasOnFailure, retentionMs } = this.settings;
    const bounds = hasOnFailure ? { bisects: true, retries: 0 } : {};
    await this.source.start({ workers, retentionMs, atTipMs: POLL_MS, behindMs: POLL_MS, ...bounds });
  }

  /** The age of what it is at, in milliseconds, as `IteratorAge` has it. */
  get age(): number {
    return Math.max(0, ...this.source.waiting.map(({ arrivedAtMs }) => this.clock.now() - arrivedAtMs));
  }

  private async handle(batch: readonly StoredRecord[]): Promise<void> {
    const bad = batch.findIndex(this.fails);
    const handled = bad < 0 ? batch.length : bad + 1;
    await this.clock.sleep((handled * 60_000) / this.settings.recordsAMinute);
    if (bad >= 0) throw new Error('a bad record');
  }
}
