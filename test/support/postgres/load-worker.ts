import { Pool, type PoolClient } from 'pg';
import { OrderedProducer } from '../../../lib/core';
import { OutboxConnectionError, OutboxRelay } from '../../../lib/core/outbox';
import type { FakeKinesis } from '../../../lib/testing/fake-kinesis';

const ADMIN_SHUTDOWN = '57P01';

/** A relay with its own connections. It can be killed like a process. */
export class LoadWorker {
  private readonly ending = new AbortController();
  private readonly sessions = new Set<PoolClient>();
  private readonly pool: Pool;
  private readonly producer: OrderedProducer;
  private readonly running: Promise<unknown>;
  private readonly death = new AbortController();

  constructor(url: string, application: string, kinesis: FakeKinesis) {
    this.pool = new Pool({ connectionString: url, max: 2, application_name: application });
    this.pool.on('error', () => {});
    this.pool.on('connect', (session) => this.sessions.add(session));
    this.pool.on('remove', (session) => this.sessions.delete(session));
    this.producer = new OrderedProducer(
      {
        putRecords: (input) =>
          this.death.signal.aborted ? Promise.reject(new Error('the worker was killed')) : kinesis.putRecords(input),
      },
      { streamName: 'Events', aggregation: true, signal: this.death.signal },
    );
    this.running = this.run();
    this.running.catch(() => {});
  }

  /** Starts the relay again if it ends with an error, like a supervisor. */
  private async run(): Promise<void> {
    const settings = { saveMs: 20, rotateMs: 200, leaseMs: 100, onReconnect: () => {} };
    while (!this.ending.signal.aborted) {
      const relay = new OutboxRelay(this.pool, this.producer, settings);
      await relay.run({ signal: this.ending.signal }).catch((error) => {
        if (error.code !== ADMIN_SHUTDOWN && !(error instanceof OutboxConnectionError)) throw error;
      });
    }
  }

  /** Stops all requests immediately, and ends the sessions of the worker. */
  kill(): void {
    this.death.abort();
    this.ending.abort();
    for (const session of this.sessions) session.connection.stream.destroy();
  }

  /** Stops the relay as a stop signal does. @throws the error of the relay */
  async end(): Promise<void> {
    this.ending.abort();
    await this.running;
    await this.producer.close();
    await this.pool.end();
  }
}
