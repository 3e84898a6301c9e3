import { InvalidArgumentError } from '../kernel/errors';
import { Bell } from './bell';
import { isRejection } from './lasting-errors';
import { OutboxPoolerError } from './outbox-errors';
import type { RelaySettings } from './relay-options';
import { applySettings, currentSettings, relaySessionSettings, type Setting } from './session-settings';
import type { Statements } from './statements';

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
  private workerLock?: number;
  private isNotified = false;
  private readonly bell: Bell;

  constructor(
    private readonly statements: Statements,
    private readonly settings: Pick<RelaySettings, 'clock' | 'statementTimeoutMs'>,
  ) {
    this.bell = new Bell(settings.clock);
  }

  /**
   * Changes nothing unless the session is the connection's own: the settings would stay with a session of somebody else.
   *
   * @param other another connection, if there is one: an idle pooler gives both the same process
   * @throws OutboxPoolerError; InvalidArgumentError if the connection is in a transaction
   */
  async check(other?: Statements): Promise<void> {
    const { connection } = this.statements;
    const [first] = await this.statements.rows('readSession');
    const { lockTimeout, isFirst } = connection.parse(() => ({
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
    if (!DURATION.test(lockTimeout)) connection.abandon(new TypeError('no lock_timeout'));
    // RDS Proxy gives a connection a session of its own from its first SET on. This one changes nothing.
    await this.unlessRejected('SET', () => connection.query({ text: `SET lock_timeout = '${lockTimeout}'` }));
    this.processId = await processOf(this.statements);
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
    this.before = await currentSettings(this.statements, settings);
    const applied = await this.unlessRejected('SET', () => applySettings(this.statements, settings, 'session'));
    const current = new Map((await currentSettings(this.statements, applied)).map(({ name, value }) => [name, value]));
    const lost = applied.find(({ name, value }) => current.get(name) !== value);
    if (lost !== undefined) throw new OutboxPoolerError(`the setting ${lost.name} was lost`);
  }

  /** Makes the session known as a worker's, and lets it receive notifications of new rows. */
  async join(): Promise<void> {
    this.isListening = true;
    await this.unlessRejected('LISTEN', () => this.statements.rows('listen'));
    await this.joinWorkers();
    await this.checkLock();
    await this.checkNotification();
  }

  /** Takes back all that the session has, besides the ranges of keys, as far as it came. */
  async end(): Promise<void> {
    await this.statements.connection.forgetStatements();
    if (this.workerLock !== undefined) await this.statements.rows('unlockWorker', [this.workerLock]);
    if (this.isListening) await this.statements.rows('unlisten');
    if (this.before.length > 0) await applySettings(this.statements, this.before, 'session');
  }

  /** Handles a notification that the session has received. */
  onNotification({ payload }: { payload?: string } = {}): void {
    if (payload !== this.notification) return;
    this.isNotified = true;
    this.bell.ring();
  }

  /**
   * Whether the session still has the lock that makes it a worker.
   *
   * @throws OutboxPoolerError if the connection has another process now, or the process has lost its lock
   */
  async checkLock(): Promise<void> {
    const rows = await this.statements.rows('hasWorkerLock', [this.workerLock]);
    const isHeld = this.statements.connection.parse(() => rows[0].isHeld);
    await this.checkProcess();
    if (isHeld === false) throw new OutboxPoolerError('an advisory lock of the session was lost');
  }

  private async checkProcess(): Promise<void> {
    if ((await processOf(this.statements)) !== this.processId) {
      throw new OutboxPoolerError('its transactions run in several sessions');
    }
  }

  /** Takes a lock that marks the session as a worker's. */
  private async joinWorkers(): Promise<void> {
    for (;;) {
      const [free] = await this.statements.rows('lockWorker');
      this.workerLock = free?.lock;
      if (free !== undefined) return;
    }
  }

  /** Only writers that notify need a session that receives. */
  private async checkNotification(): Promise<void> {
    const sent = await this.statements.rows('notifySession', [this.notification]);
    if (sent.length === 0) return;
    const { clock } = this.settings;
    const endMs = clock.now() + NOTIFICATION_MS;
    while (!this.isNotified) {
      const leftMs = endMs - clock.now();
      if (leftMs <= 0) throw new OutboxPoolerError('a notification to the session was lost');
      await this.bell.sleep(leftMs);
    }
  }

  private get notification(): string {
    return `relay ${this.workerLock}`;
  }

  private async unlessRejected<T>(what: string, run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      if (!isRejection(error)) throw error;
      throw new OutboxPoolerError(`${what} was rejected`, { cause: error });
    }
  }
}

/** The process of the server that has run the statement. */
async function processOf(statements: Statements): Promise<number> {
  const rows = await statements.rows('readProcess');
  return statements.connection.parse(() => rows[0].pid);
}
