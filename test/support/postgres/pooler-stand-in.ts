import { EventEmitter } from 'node:events';
import { Client } from 'pg';
import type { PostgresClient, PostgresPool, PostgresQuery } from '../../../lib/core/outbox';
import { seededRandom } from '../../../lib/testing/seeded-random';

export interface PoolerRules {
  /**
   * The free server process that executes the next transaction. `the last` is the process that became free most recently, `the
   * first` is the process that became free first, and `any` is a random process.
   */
  readonly takes: 'the last' | 'the first' | 'any';
  /**
   * After a statement that matches, a connection keeps its server process. RDS Proxy calls this pinning. @default no
   * statement
   */
  readonly pins?: RegExp;
  /** The pooler rejects a statement that matches. @default no statement */
  readonly rejects?: RegExp;
}

/** RDS Proxy pins a connection on these statements. Source: the user guide of RDS, "Avoiding pinning an RDS Proxy". */
export const RDS_PROXY: PoolerRules = {
  takes: 'any',
  pins: /^\s*(SET|PREPARE|DISCARD|DEALLOCATE|DECLARE|LISTEN|LOAD)\b|set_config|setval|nextval|pg_(try_)?advisory_lock/i,
};

/** A pooler in transaction mode for a real server. Its connections share a few server processes. */
export class PoolerStandIn implements PostgresPool {
  readonly totalCount = 0;
  readonly options = { max: 10 };
  private readonly free: Client[];
  private readonly random = seededRandom(1);

  private constructor(
    readonly processes: readonly Client[],
    private readonly rules: PoolerRules,
  ) {
    this.free = [...processes];
  }

  static async start(url: string, rules: PoolerRules, size = 4): Promise<PoolerStandIn> {
    const processes = Array.from({ length: size }, () => new Client({ connectionString: url }));
    for (const process of processes) process.on('error', () => {});
    await Promise.all(processes.map((process) => process.connect()));
    return new PoolerStandIn(processes, rules);
  }

  async stop(): Promise<void> {
    await Promise.all(this.processes.map((process) => process.end()));
  }

  /** The values of some settings in each server process. */
  async settings(): Promise<unknown[]> {
    const text = "SELECT name, setting FROM pg_settings WHERE context = 'user' AND name NOT LIKE '%.%' ORDER BY name";
    return Promise.all(this.processes.map(async (process) => (await process.query(text)).rows));
  }

  async connect(): ReturnType<PostgresPool['connect']> {
    const { pins, rejects } = this.rules;
    const events = new EventEmitter();
    const forward = (message: unknown): void => void events.emit('notification', message);
    let own: Client | undefined;
    let isPinned = false;
    const query = async (statement: PostgresQuery) => {
      const { text } = statement;
      if (rejects?.test(text)) throw Object.assign(new Error('unsupported statement'), { code: '0A000' });
      own ??= this.take();
      if (!isPinned && pins?.test(text)) {
        isPinned = true;
        own.on('notification', forward);
      }
      if (/^\s*BEGIN/.test(text)) isInTransaction = true;
      try {
        return await own.query(statement);
      } finally {
        if (/^\s*(COMMIT|ROLLBACK)/.test(text)) isInTransaction = false;
        if (!isPinned && !isInTransaction) own = this.give(own);
      }
    };
    let isInTransaction = false;
    const release = (isBroken?: boolean | Error): void => {
      if (own === undefined || !isBroken) return;
      own.removeListener('notification', forward);
      void own.query('DISCARD ALL').catch(() => {});
      own = this.give(own);
    };
    return Object.assign(events, { query, release }) as unknown as PostgresClient & { release(): void };
  }

  private take(): Client {
    const { takes } = this.rules;
    const at = takes === 'the last' ? -1 : takes === 'the first' ? 0 : Math.floor(this.random() * this.free.length);
    const [taken] = this.free.splice(at, 1);
    if (taken === undefined) throw new Error('the pooler has no free process');
    return taken;
  }

  private give(process: Client): undefined {
    this.free.push(process);
  }
}
