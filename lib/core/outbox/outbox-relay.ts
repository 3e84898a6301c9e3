import { type CallLimit, callWithin } from '../kernel/call-within';
import { checkSignal } from '../kernel/checks';
import { EvenShardsError, InvalidArgumentError } from '../kernel/errors';
import { sleepUnlessAborted } from '../kernel/pause';
import { checkOutbox } from './check-outbox';
import { Connection } from './connection';
import { type HeldRange, KeyRanges } from './key-ranges';
import { isPermanent, isReadOnly } from './lasting-errors';
import { NewRows } from './new-rows';
import { OutboxConnectionError, OutboxLeaseError, OutboxReadOnlyError } from './outbox-errors';
import { type OutboxVerification, verifyOutbox } from './outbox-verification';
import { ParkedTable } from './parked-table';
import type { PostgresClient, PostgresPool } from './postgres-client';
import { RangeRelay } from './range-relay';
import { type OutboxRelayOptions, type RelaySettings, relaySettings } from './relay-options';
import { RelaySession } from './relay-session';
import { noRelaySummary, type RelaySummary } from './relay-summary';
import { type ReplayOptions, replay } from './replay';
import { inTransaction } from './session-settings';
import { Statements } from './statements';
import { type RecordSink, Streams } from './streams';
import { WakeSignal } from './wake-signal';

/** Options of `run`. */
export interface RelayRunOptions {
  /** Stops the relay. */
  signal?: AbortSignal;
  /**
   * Whether a worker without a key range waits for a range.
   * @default true
   */
  standsBy?: boolean;
}

/**
 * The timeout of statements after the signal has aborted. If the position cannot be saved within this time, the next relay sends
 * some rows again.
 */
const LAST_STATEMENT_MS = 3_000;

/**
 * How long the relay tries again while the server is read-only. After a failover, the host name of the primary may still resolve
 * to the replica for some time.
 */
const LONGEST_READ_ONLY_MS = 60_000;

/** The timeout for a second connection. It is short, because the application may use all connections of its pool. */
const SECOND_CONNECTION_MS = 3_000;

/**
 * Relays an outbox in Postgres to a Kinesis stream. It sends each committed row at least once. The rows of a key are sent in the
 * order of their commits. The relay never sends a row that was rolled back. Each record carries the row's number as its sequence,
 * so an `OrderedConsumer` can drop duplicates.
 *
 * Workers share the keys by ranges of the key hash. A worker holds a range with an advisory lock, which the database releases
 * when the worker's connection ends. Another worker then continues at the saved position, and sends some rows again. With one
 * range, which is the default, one worker relays and the other workers stand by.
 *
 * Pass a producer that only the relay uses, without `skipRejected`. If rows have topics, pass one producer for each topic name,
 * each with a different stream. Each key then keeps its order within a topic.
 */
export class OutboxRelay {
  private readonly settings: RelaySettings;
  private readonly streams: Streams;
  private readOnlySinceMs?: number;
  private readonly totals = noRelaySummary();
  private readonly ranges = new Map<number, { relay: RangeRelay; ended: Promise<void> }>();
  private readonly wakeSignal: WakeSignal;
  private isRunning = false;
  private lost?: Error;
  private failure?: { error: unknown };

  /**
   * @param postgres a `Pool` of the package `pg`, or a connected `Client`. The relay uses one connection of a pool. When it
   *   starts, it also uses a second connection for a moment. After a lost connection, it uses a new connection
   * @throws InvalidArgumentError if an option is out of bounds, or the producer has `skipRejected`, because a rejected row would
   *   then be sent after later rows of its key
   */
  constructor(
    private readonly postgres: PostgresPool | PostgresClient,
    producer: RecordSink | Readonly<Record<string, RecordSink>>,
    options: OutboxRelayOptions = {},
  ) {
    this.streams = new Streams(producer);
    this.settings = relaySettings(options);
    this.wakeSignal = new WakeSignal(this.settings.clock);
  }

  /** The counts of the relay since its creation. */
  summary(): RelaySummary {
    return { ...this.totals };
  }

  /**
   * Relays until the signal aborts. Then it reads no more rows, waits for the results of the rows in flight, saves its position
   * and releases its ranges.
   *
   * A worker without a range stands by, to take over a range when another worker stops. With `standsBy: false`, `run` returns as
   * soon as every range is held and no other worker has two ranges. Use this option in a function that is invoked again soon.
   *
   * @throws OutboxPoolerError, OutboxRowSecurityError, OutboxSchemaError, OutboxPermissionError, OutboxSequenceError or
   *   OutboxRestoredError before anything is sent
   * @throws NewerFormatError before anything is sent, or after a migration, if only relays of later releases can use the schema
   * @throws InvalidArgumentError for a pool of one connection, and for a connection in a transaction
   * @throws OutboxReadOnlyError if the server has been read-only for a minute
   * @throws the error of the producer if the producer accepts no more records
   * @throws permanent errors of Postgres, such as a missing table or a rejected login, and of the driver, such as a closed pool
   * @throws other errors of Postgres and OutboxConnectionError, if `postgres` is a client. With a pool, the relay connects again,
   *   also while it starts
   */
  async run({ signal, standsBy = true }: RelayRunOptions = {}): Promise<RelaySummary> {
    checkSignal(signal);
    if (this.isRunning) throw new InvalidArgumentError('run', 'a second call', 'called after the first call has ended');
    this.isRunning = true;
    const limit = { ...this.limit, shortened: signal && { signal, ms: LAST_STATEMENT_MS } };
    const onAbort = (): void => this.wakeSignal.notify();
    signal?.addEventListener('abort', onAbort);
    this.readOnlySinceMs = undefined;
    try {
      while (!signal?.aborted) {
        try {
          await this.relayOverOneConnection(limit, { signal, standsBy });
          break;
        } catch (error) {
          if (!this.mayConnectAgain(error)) throw error;
          this.totals.reconnects += 1;
          this.settings.onReconnect(error as Error);
          // `wakeSignal.sleep` would return immediately, because each range notified `wakeSignal` when the range ended.
          await sleepUnlessAborted(this.settings.leaseMs, this.settings.clock, signal);
        }
      }
      return this.summary();
    } finally {
      signal?.removeEventListener('abort', onAbort);
      this.isRunning = false;
    }
  }

  /**
   * Checks that each relayed row is recorded as acknowledged, parked or rejected, and counts the waiting rows. Call it in
   * parallel to `run`, as often as you like: each row is checked once. Rows are deleted only after this check.
   *
   * @throws the errors of Postgres, and OutboxConnectionError if Postgres does not respond
   */
  async verify(): Promise<OutboxVerification> {
    return this.withConnection((statements) =>
      inTransaction(statements, this.settings.statementTimeoutMs, () => verifyOutbox(statements)),
    );
  }

  /**
   * Sends rows again, in order, if they were already sent and still exist. The options select the rows of a key, of a period, or
   * of a range of numbers. The setting `retain` of the outbox decides how long sent rows exist. Waiting, parked and rejected rows
   * are not sent.
   *
   * The records have their old numbers, so that a consumer drops the records that it already has. With `as: 'new'`, the rows are
   * put into the outbox again, after all other rows of their keys. The role then also needs the permissions of `grant_put`.
   *
   * @returns the number of rows that were sent, or put again
   * @throws InvalidArgumentError if an option is out of bounds
   * @throws OutboxReplayError if the stream rejects a row
   * @throws the errors of Postgres
   */
  async replay(options: ReplayOptions = {}): Promise<number> {
    return this.withConnection((statements) => replay(statements, this.settings, this.streams, options));
  }

  private get limit(): CallLimit {
    return { ms: this.settings.statementTimeoutMs, clock: this.settings.clock };
  }

  private async withConnection<T>(work: (statements: Statements) => Promise<T>): Promise<T> {
    if (isPool(this.postgres)) return this.withPooledConnection(this.postgres, this.limit, work);
    return work(this.statementsOn(this.postgres, this.limit));
  }

  /** Runs work with a connection of a pool, and closes the connection if the work fails. */
  private async withPooledConnection<T>(
    pool: PostgresPool,
    limit: CallLimit,
    work: (statements: Statements) => Promise<T>,
  ): Promise<T> {
    const client = await connect(pool, limit);
    let isBroken = true;
    try {
      const result = await work(this.statementsOn(client, limit));
      isBroken = false;
      return result;
    } finally {
      if (!isBroken) client.removeListener('error', ignore);
      client.release(isBroken);
    }
  }

  private statementsOn(client: PostgresClient, limit: CallLimit): Statements {
    return new Statements(new Connection(client, limit), this.settings.schema);
  }

  private mayConnectAgain(error: unknown): boolean {
    if (!isReadOnly(error)) this.readOnlySinceMs = undefined;
    else if (this.isReadOnlyForLong()) throw new OutboxReadOnlyError({ cause: error });
    if (!isPool(this.postgres) || isPermanent(error)) return false;
    return !(error instanceof EvenShardsError) || error instanceof OutboxConnectionError;
  }

  private isReadOnlyForLong(): boolean {
    const now = this.settings.clock.now();
    this.readOnlySinceMs ??= now;
    return now - this.readOnlySinceMs >= LONGEST_READ_ONLY_MS;
  }

  private async relayOverOneConnection(limit: CallLimit, options: RelayRunOptions): Promise<void> {
    const pooled = isPool(this.postgres) ? await connect(this.postgres, limit) : undefined;
    const client = pooled ?? (this.postgres as PostgresClient);
    const onLost = (error?: Error): void => {
      this.lost ??= error ?? new Error('the connection has ended');
      this.wakeSignal.notify();
    };
    const statements = this.statementsOn(client, limit);
    const session = new RelaySession(statements, this.settings);
    const onNotification = (message: { payload?: string }): void => {
      session.onNotification(message);
      for (const { relay } of this.ranges.values()) relay.wake();
    };
    this.lost = undefined;
    this.failure = undefined;
    client.on('error', onLost);
    client.on('end', onLost);
    client.on('notification', onNotification);
    let isBroken = true;
    try {
      await this.checkSession(session);
      await session.begin();
      await checkOutbox(statements);
      await session.join();
      await this.holdRanges(statements, session, options);
      await session.end();
      isBroken = false;
    } catch (error) {
      if (this.lost === undefined) await session.end().catch(ignore);
      if (this.lost === undefined || error instanceof OutboxConnectionError) throw error;
      throw new OutboxConnectionError({ cause: error });
    } finally {
      client.removeListener('notification', onNotification);
      client.removeListener('end', onLost);
      // An error must not end the process while the pool closes a broken connection. `onLost` would report this error as the loss
      // of the next connection.
      if (isBroken) ignoreErrors(client);
      else client.removeListener('error', ignore);
      client.removeListener('error', onLost);
      pooled?.release(isBroken);
    }
  }

  /**
   * Compares the session with the session of a second connection of the pool, unless the application uses all other connections.
   */
  private async checkSession(session: RelaySession): Promise<void> {
    const pool = this.postgres;
    if (!isPool(pool)) return session.check();
    if (pool.options?.max === 1) throw needsTwoConnections();
    let isCompared = false;
    const limit = { ...this.limit, ms: Math.min(SECOND_CONNECTION_MS, this.settings.statementTimeoutMs) };
    try {
      await this.withPooledConnection(pool, limit, (other) => {
        isCompared = true;
        return session.check(other);
      });
    } catch (error) {
      if (isCompared) throw error;
      // If the connection of the relay is lost, too, this check fails with the error of that connection.
      await session.check();
      // The pool does not report its maximum, but has only one connection.
      if (pool.options?.max === undefined && pool.totalCount === 1 && isTimeout(error)) throw needsTwoConnections();
    }
  }

  /**
   * Claims and releases ranges as other workers start and stop, until the signal aborts. Without `standsBy`, the method also
   * returns if this worker cannot get a range.
   */
  private async holdRanges(
    statements: Statements,
    session: RelaySession,
    { signal, standsBy }: RelayRunOptions,
  ): Promise<void> {
    const { clock, leaseMs, rotateMs } = this.settings;
    let rotatedAtMs = clock.now();
    try {
      while (!signal?.aborted) {
        this.throwIfFailed();
        const mayGetRange = await this.balance(statements, session);
        if (!standsBy && this.ranges.size === 0 && !mayGetRange) break;
        if (this.ranges.size > 0 && clock.now() - rotatedAtMs >= rotateMs) {
          rotatedAtMs = clock.now();
          await statements.rows('rotate');
        }
        await this.wakeSignal.sleep(leaseMs);
      }
    } finally {
      for (const { relay } of this.ranges.values()) relay.stop();
      await Promise.all([...this.ranges.values()].map(({ ended }) => ended));
    }
    this.throwIfFailed();
  }

  /**
   * Claims a range if no other worker holds fewer ranges, and releases a range if another worker holds at least two fewer ranges.
   *
   * @returns whether a worker without a range may get a range soon, because another worker holds at least two ranges
   */
  private async balance(statements: Statements, session: RelaySession): Promise<boolean> {
    const keyRanges = new KeyRanges(statements);
    const { mine, others } = await keyRanges.holdings();
    if (mine === undefined) await session.checkLock();
    const fewest = Math.min(...others);
    if (mine === undefined || mine <= fewest) {
      const range = await keyRanges.claim(this.ranges.keys());
      if (range !== undefined) {
        // The takeover was a write, so the server is not read-only.
        this.readOnlySinceMs = undefined;
        this.relay(statements, range);
        this.wakeSignal.notify();
      }
    } else if (mine >= fewest + 2) {
      [...this.ranges.values()].at(-1)?.relay.stop();
    }
    return Math.max(...others) >= 2;
  }

  private relay(statements: Statements, range: HeldRange): void {
    const newRows = new NewRows(statements, range, this.settings.shape);
    const parkedTable = new ParkedTable(statements, range, this.settings.shape);
    const relay = new RangeRelay(newRows, parkedTable, this.streams, this.settings, this.totals);
    const ended = relay
      .run()
      .catch((error) => {
        if (!(error instanceof OutboxLeaseError)) this.failure ??= { error };
      })
      .then(() => new KeyRanges(statements).release(range))
      .catch((error) => {
        this.failure ??= { error };
      })
      .finally(() => {
        this.ranges.delete(range.number);
        this.wakeSignal.notify();
      });
    this.ranges.set(range.number, { relay, ended });
  }

  private throwIfFailed(): void {
    if (this.failure !== undefined) throw this.failure.error;
    if (this.lost !== undefined) throw this.lost;
  }
}

function needsTwoConnections(): InvalidArgumentError {
  return new InvalidArgumentError(
    'postgres',
    'a pool of 1 connection',
    'a pool of at least 2 connections (a relay needs two connections: one to relay, one to verify and to detect poolers)',
  );
}

/**
 * Takes a connection of a pool, and ignores its error events until the caller removes the listener. Closes a connection that
 * the pool returns only after the timeout.
 */
async function connect(pool: PostgresPool, limit: CallLimit): ReturnType<PostgresPool['connect']> {
  pool.on?.('connect', ignoreErrors);
  let connecting: ReturnType<PostgresPool['connect']> | undefined;
  try {
    connecting = pool.connect();
    const client = await callWithin(limit, () => connecting!);
    ignoreErrors(client);
    return client;
  } catch (error) {
    connecting?.then(
      (late) => late.release(true),
      () => {},
    );
    // Errors of Postgres and of the system have a code.
    throw (error as { code?: string }).code === undefined ? new OutboxConnectionError({ cause: error }) : error;
  } finally {
    pool.removeListener?.('connect', ignoreErrors);
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof OutboxConnectionError && Object(error.cause).name === 'TimeoutError';
}

/** Errors of a connection can be ignored, because the statement in flight fails, too. */
function ignoreErrors(client: PostgresClient): void {
  client.removeListener('error', ignore);
  client.on('error', ignore);
}

function ignore(): void {}

function isPool(postgres: PostgresPool | PostgresClient): postgres is PostgresPool {
  return 'totalCount' in postgres;
}
