import { InvalidArgumentError } from '../kernel/errors';
import { Bell } from './bell';
import type { Connection } from './connection';
import { isRejection } from './lasting-errors';
import { OutboxPoolerError } from './outbox-errors';
import type { RelaySettings } from './relay-options';
import { applySettings, currentSettings, relaySessionSettings, type Setting } from './session-settings';

/** How often the relay compares its process of the server: a busy pooler gives a transaction the process that is free. */
const COMPARISONS = 5;

/** Postgres delivers what a session sends to itself with the answer to the statement. A proxy may take a while. */
const NOTIFICATION_MS = 5_000;

/** How Postgres writes a `lock_timeout`. */
const DURATION = /^\d+(ms|s|min|h|d)?$/;

/**
 * The session of a relay: a process of the server that keeps the settings, the locks and the notifications of one connection.
 * Behind a pooler in transaction mode a connection has none.
 */
export class RelaySession {
  private processId?: number;
  /** The values of the settings at the start, to restore them. */
  private before: readonly Setting[] = [];
  private isListening = false;
  private memberLock?: number;
  private isHeard = false;
  private readonly schema: string;
  private readonly bell: Bell;

  constructor(
    private readonly connection: Connection,
    private readonly settings: Pick<RelaySettings, 'clock' | 'schema' | 'statementTimeoutMs'>,
  ) {
    this.schema = settings.schema;
    this.bell = new Bell(settings.clock);
  }

  /**
   * Changes nothing unless the session is the connection's own: the settings would stay with a session of somebody else.
   *
   * @param other another connection, if there is one: an idle pooler gives both the same process
   * @throws OutboxPoolerError; InvalidArgumentError if the connection is in a transaction
   */
  async check(other?: Connection): Promise<void> {
    const [first] = await this.rows(
      `SELECT pg_catalog.current_setting('lock_timeout') AS lock_timeout,
         pg_catalog.statement_timestamp() OPERATOR(pg_catalog.=) pg_catalog.transaction_timestamp() AS is_first`,
    );
    const { lockTimeout, isFirst } = this.connection.said(() => ({
      lockTimeout: first.lock_timeout,
      isFirst: first.is_first,
    }));
    if (isFirst === false) {
      throw new InvalidArgumentError(
        'postgres',
        'a connection in a transaction',
        'a connection outside of a transaction',
      );
    }
    if (!DURATION.test(lockTimeout)) this.connection.notAnswered(new TypeError('no lock_timeout'));
    // RDS Proxy gives a connection a session of its own from its first SET on. This one changes nothing.
    await this.unlessRejected('SET', () => this.rows(`SET lock_timeout = '${lockTimeout}'`));
    this.processId = await processOf(this.connection);
    for (let compared = 0; compared < COMPARISONS; compared++) {
      // Without an answer of the other connection, that of the own one counts alone.
      const processOfOther = other && (await processOf(other).catch(() => undefined));
      if (processOfOther === this.processId) throw new OutboxPoolerError('two connections share one session');
      await this.checkProcess();
    }
  }

  /** Sets what the relay needs. */
  async begin(): Promise<void> {
    const settings = relaySessionSettings(this.settings.statementTimeoutMs);
    this.before = await currentSettings(this.connection, settings);
    const applied = await this.unlessRejected('SET', () => applySettings(this.connection, settings, 'session'));
    const current = new Map((await currentSettings(this.connection, applied)).map(({ name, value }) => [name, value]));
    const lost = applied.find(({ name, value }) => current.get(name) !== value);
    if (lost !== undefined) throw new OutboxPoolerError(`the setting ${lost.name} was lost`);
  }

  /** Makes the session known as a worker's, and lets it receive notifications of new rows. */
  async join(): Promise<void> {
    this.isListening = true;
    await this.unlessRejected('LISTEN', () => this.rows(`LISTEN ${this.schema}`));
    await this.joinMembers();
    await this.checkLock();
    await this.checkNotification();
  }

  /** Takes back all that the session has, besides the ranges of keys, as far as it came. */
  async end(): Promise<void> {
    await this.connection.forgetStatements();
    if (this.memberLock !== undefined) {
      await this.rows('SELECT pg_catalog.pg_advisory_unlock_shared(pg_catalog.hashtext($1::text), $2::int)', [
        this.schema,
        this.memberLock,
      ]);
    }
    if (this.isListening) await this.rows(`UNLISTEN ${this.schema}`);
    if (this.before.length > 0) await applySettings(this.connection, this.before, 'session');
  }

  /** A notification that the session has received. */
  hear({ payload }: { payload?: string } = {}): void {
    if (payload !== this.notification) return;
    this.isHeard = true;
    this.bell.ring();
  }

  /**
   * Whether the session still has the lock that makes it a worker.
   *
   * @throws OutboxPoolerError if the connection has another process now, or the process has lost its lock
   */
  async checkLock(): Promise<void> {
    const rows = await this.rows(
      `SELECT EXISTS (
         SELECT FROM pg_catalog.pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND granted AND pid = pg_catalog.pg_backend_pid()
           AND classid::bigint = pg_catalog.hashtext($1::text)::bigint & 4294967295 AND objid::bigint = $2::bigint & 4294967295
       ) AS "isHeld"`,
      [this.schema, this.memberLock],
    );
    const isHeld = this.connection.said(() => rows[0].isHeld);
    await this.checkProcess();
    if (isHeld === false) throw new OutboxPoolerError('an advisory lock of the session was lost');
  }

  private async checkProcess(): Promise<void> {
    if ((await processOf(this.connection)) !== this.processId) {
      throw new OutboxPoolerError('its transactions run in several sessions');
    }
  }

  /** Takes a free lock with a random number below 0. It marks the session as a worker's. */
  private async joinMembers(): Promise<void> {
    for (;;) {
      const [free] = await this.rows(
        `SELECT lock FROM (SELECT -1 - pg_catalog.floor(pg_catalog.random() * 2147483647)::int AS lock) drawn
         WHERE pg_catalog.pg_try_advisory_lock_shared(pg_catalog.hashtext($1::text), lock)`,
        [this.schema],
      );
      this.memberLock = free?.lock;
      if (free !== undefined) return;
    }
  }

  /** Only writers that notify need a session that receives. */
  private async checkNotification(): Promise<void> {
    const sent = await this.rows(
      `SELECT pg_catalog.pg_notify($1::text, $2::text) FROM ${this.schema}.settings WHERE notifies`,
      [this.schema, this.notification],
    );
    if (sent.length === 0) return;
    const { clock } = this.settings;
    const endMs = clock.now() + NOTIFICATION_MS;
    while (!this.isHeard) {
      const leftMs = endMs - clock.now();
      if (leftMs <= 0) throw new OutboxPoolerError('a notification to the session was lost');
      await this.bell.sleep(leftMs);
    }
  }

  private get notification(): string {
    return `relay ${this.memberLock}`;
  }

  private async unlessRejected<T>(what: string, ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      if (!isRejection(error)) throw error;
      throw new OutboxPoolerError(`${what} was rejected`, { cause: error });
    }
  }

  // biome-ignore lint/suspicious/noExplicitAny: a row's columns are the statement's
  private async rows(text: string, values: unknown[] = []): Promise<any[]> {
    return (await this.connection.query({ text, ...(values.length > 0 && { values }) })).rows;
  }
}

/** The process of the server that has run the statement. */
async function processOf(connection: Connection): Promise<number> {
  const { rows } = await connection.query({ text: 'SELECT pg_catalog.pg_backend_pid() AS pid' });
  return connection.said(() => rows[0].pid);
}
