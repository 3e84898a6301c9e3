import { InvalidArgumentError } from '../kernel/errors';
import { isRejection } from './lasting-errors';
import { OutboxPoolerError } from './outbox-errors';
import type { RelaySettings } from './relay-options';
import { applySettings, currentSettings, relaySessionSettings, type Setting } from './session-settings';
import type { Statements } from './statements';
import { WakeSignal } from './wake-signal';

/**
 * How many times the relay checks that its server process is still the same. A busy pooler uses any free process for each
 * transaction.
 */
const COMPARISONS = 5;

/**
 * If a session notifies itself, Postgres delivers the notification together with the response of the statement. A proxy may take
 * longer.
 */
const NOTIFICATION_MS = 5_000;

/** The format of a `lock_timeout` in Postgres. */
const DURATION = /^\d+(ms|s|min|h|d)?$/;

/**
 * The session of a relay: the server process with the settings, locks and notifications of one connection. Behind a pooler in
 * transaction mode, a connection does not have its own session.
 */
export class RelaySession {
  private processId?: number;
  /** The values of the settings at the start, to restore them. */
  private before: readonly Setting[] = [];
  private isListening = false;
  private workerLock?: number;
  private isNotified = false;
  private readonly wakeSignal: WakeSignal;

  constructor(
    private readonly statements: Statements,
    private readonly settings: Pick<RelaySettings, 'clock' | 'statementTimeoutMs'>,
  ) {
    this.wakeSignal = new WakeSignal(settings.clock);
  }

  /**
   * Checks that the connection has its own session, before the relay changes settings of the session.
   *
   * @param other another connection of the pool. An idle pooler gives both connections the same process
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
    // RDS Proxy pins a connection to a session after its first SET. This SET changes nothing.
    await this.unlessRejected('SET', () => connection.query({ text: `SET lock_timeout = '${lockTimeout}'` }));
    this.processId = await processOf(this.statements);
    for (let compared = 0; compared < COMPARISONS; compared++) {
      // If the other connection does not respond, the check continues without it.
      const processOfOther = other && (await processOf(other).catch(() => undefined));
      if (processOfOther === this.processId) throw new OutboxPoolerError('two connections share one session');
      await this.checkProcess();
    }
  }

  async begin(): Promise<void> {
    const settings = relaySessionSettings(this.settings.statementTimeoutMs);
    this.before = await currentSettings(this.statements, settings);
    const applied = await this.unlessRejected('SET', () => applySettings(this.statements, settings, 'session'));
    const current = new Map((await currentSettings(this.statements, applied)).map(({ name, value }) => [name, value]));
    const lost = applied.find(({ name, value }) => current.get(name) !== value);
    if (lost !== undefined) throw new OutboxPoolerError(`the setting ${lost.name} was lost`);
  }

  /** Marks the session as a worker, and subscribes to notifications of new rows. */
  async join(): Promise<void> {
    this.isListening = true;
    await this.unlessRejected('LISTEN', () => this.statements.rows('listen'));
    await this.joinWorkers();
    await this.checkLock();
    await this.checkNotification();
  }

  /** Deallocates the prepared statements, releases the worker lock, unsubscribes, and restores the settings. */
  async end(): Promise<void> {
    await this.statements.connection.forgetStatements();
    if (this.workerLock !== undefined) await this.statements.rows('unlockWorker', [this.workerLock]);
    if (this.isListening) await this.statements.rows('unlisten');
    if (this.before.length > 0) await applySettings(this.statements, this.before, 'session');
  }

  onNotification({ payload }: { payload?: string } = {}): void {
    if (payload !== this.notification) return;
    this.isNotified = true;
    this.wakeSignal.notify();
  }

  /**
   * Checks that the session still has its worker lock.
   *
   * @throws OutboxPoolerError if the connection now has another process, or the process has lost its lock
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

  private async joinWorkers(): Promise<void> {
    for (;;) {
      const [free] = await this.statements.rows('lockWorker');
      this.workerLock = free?.lock;
      if (free !== undefined) return;
    }
  }

  /** Checks that the session receives notifications, if writers send notifications. */
  private async checkNotification(): Promise<void> {
    const sent = await this.statements.rows('notifySession', [this.notification]);
    if (sent.length === 0) return;
    const { clock } = this.settings;
    const endMs = clock.now() + NOTIFICATION_MS;
    while (!this.isNotified) {
      const leftMs = endMs - clock.now();
      if (leftMs <= 0) throw new OutboxPoolerError('a notification to the session was lost');
      await this.wakeSignal.sleep(leftMs);
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

async function processOf(statements: Statements): Promise<number> {
  const rows = await statements.rows('readProcess');
  return statements.connection.parse(() => rows[0].pid);
}
