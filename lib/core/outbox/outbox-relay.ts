import { type CallLimit, callWithin } from '../kernel/call-within';
import { EvenShardsError, InvalidArgumentError } from '../kernel/errors';
import { sleepUnlessAborted } from '../kernel/pause';
import { Bell } from './bell';
import { checkOutbox } from './check-outbox';
import { Connection } from './connection';
import { type HeldRange, KeyRanges } from './key-ranges';
import { isLasting, isReadOnly } from './lasting-errors';
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

/** How a relay runs, and until when. */
export interface RelayRunOptions {
  /** Tells the relay to end. */
  signal?: AbortSignal;
  /**
   * Whether a worker that gets no range of keys waits for one.
   * @default true
   */
  standsBy?: boolean;
}

/** The timeout of a statement after the relay was told to end. If the position is not saved by then, the next relay sends some rows again. */
const LAST_STATEMENT_MS = 3_000;

/** A primary that has just become a replica may still have its name. */
const LONGEST_READ_ONLY_MS = 60_000;

/** The application may need all other connections of its pool. */
const SECOND_CONNECTION_MS = 3_000;

/**
 * Relays an outbox in Postgres to a Kinesis stream: each committed row at least once, in the order of the commits of its key, and no
 * row that was rolled back. An `OrderedConsumer` drops the duplicates.
 *
 * Workers divide the keys by ranges of their hash. A worker holds a range by a lock that the database takes back when the
 * worker's connection ends; another then goes on from what was saved, and sends some rows again. Each row's number goes
 * along as the record's sequence. With one range, the default, one worker relays, and others stand by.
 *
 * Give it a producer of its own, without `skipRejected`; or one for each topic, by name, each for a stream of its own. Then
 * each key is in order within its topic.
 */
export class OutboxRelay {
  private readonly settings: RelaySettings;
  private readonly streams: Streams;
  /** Since when the server takes no writes. */
  private readOnlySinceMs?: number;
  private readonly totals = noRelaySummary();
  private readonly ranges = new Map<number, { relay: RangeRelay; ended: Promise<void> }>();
  private readonly bell: Bell;
  private isRunning = false;
  private lost?: Error;
  private failure?: { error: unknown };

  /**
   * @param postgres a `Pool` of the package `pg`, or a connected `Client`; of a pool it takes one connection, another
   *   when that is lost, and for a moment a second one when it starts
   * @throws InvalidArgumentError if an option is out of bounds, or the producer has `skipRejected`: it would pass a row
   *   that was rejected, which is then tried again behind later rows of its key
   */
  constructor(
    private readonly postgres: PostgresPool | PostgresClient,
    producer: RecordSink | Readonly<Record<string, RecordSink>>,
    options: OutboxRelayOptions = {},
  ) {
    this.streams = new Streams(producer);
    this.settings = relaySettings(options);
    this.bell = new Bell(this.settings.clock);
  }

  /** What it has done so far. */
  summary(): RelaySummary {
    return { ...this.totals };
  }

  /**
   * Relays until the signal aborts. Then it reads no more rows, waits until those that it has read have ended, saves how far
   * it came and gives its ranges back.
   *
   * A worker that gets no range stands by, to take one over when another ends. With `standsBy: false` it ends as soon as every
   * range is held and no other worker has two: for a function, whose next invocation is near.
   *
   * @throws OutboxPoolerError, OutboxRowSecurityError, OutboxSchemaError, OutboxPermissionError, OutboxSequenceError or
   *   OutboxRestoredError before anything is sent; InvalidArgumentError for a pool of one connection, and for a connection
   *   in a transaction; what the producer throws when it ends; OutboxReadOnlyError; what Postgres throws that will not pass,
   *   such as a table that is not there or a permission that the relay lacks; and unless a connection of a pool can be
   *   replaced by another, whatever else it throws, and OutboxConnectionError when it gives no answer
   */
  async run({ signal, standsBy = true }: RelayRunOptions = {}): Promise<RelaySummary> {
    if (this.isRunning) throw new InvalidArgumentError('run', 'a second call', 'called when the first has ended');
    this.isRunning = true;
    const limit = { ...this.limit, shortened: signal && { signal, ms: LAST_STATEMENT_MS } };
    const onAbort = (): void => this.bell.ring();
    signal?.addEventListener('abort', onAbort);
    let wasConnected = false;
    try {
      while (!signal?.aborted) {
        try {
          await this.relayOverOneConnection(limit, { signal, standsBy }, () => {
            wasConnected = true;
          });
          break;
        } catch (error) {
          if (!wasConnected || !this.mayConnectAgain(error)) throw error;
          this.totals.reconnects += 1;
          this.settings.onReconnect(error as Error);
          // Not by the bell, which the ranges have rung when they ended.
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
   * Compares the rows that were relayed with what is noted of each, and says what waits. Call it beside `run`, as often as you
   * like: each row is compared once, by whoever comes first; slots are emptied only when theirs have been.
   *
   * @throws what Postgres throws; OutboxConnectionError when it gives no answer
   */
  async verify(): Promise<OutboxVerification> {
    return this.withConnection((statements) =>
      inTransaction(statements, this.settings.statementTimeoutMs, () => verifyOutbox(statements)),
    );
  }

  /**
   * Sends rows again that were sent and are still there, in order: all, or those of a key, of a time, or of some numbers. See
   * `retain` for how long they are. Rows that wait, are parked, or were rejected are left out.
   *
   * They have their old numbers, so that consumers that have them drop them; or, with `as: 'new'`, they are put into the
   * outbox again, behind all others of their keys. Then the role needs what `grant_put` gives, too.
   *
   * @returns how many rows were sent, or put
   * @throws InvalidArgumentError if an option is out of bounds; OutboxReplayError if the stream does not take a row; what
   *   Postgres throws
   */
  async replay(options: ReplayOptions = {}): Promise<number> {
    return this.withConnection((statements) => replay(statements, this.settings, this.streams, options));
  }

  /** How long Postgres may take to respond. */
  private get limit(): CallLimit {
    return { ms: this.settings.statementTimeoutMs, clock: this.settings.clock };
  }

  private async withConnection<T>(work: (statements: Statements) => Promise<T>): Promise<T> {
    if (isPool(this.postgres)) return this.withPooledConnection(this.postgres, this.limit, work);
    return work(this.statementsOn(this.postgres, this.limit));
  }

  /** Does some work with a connection of a pool, and closes the connection if that fails. */
  private async withPooledConnection<T>(
    pool: PostgresPool,
    limit: CallLimit,
    work: (statements: Statements) => Promise<T>,
  ): Promise<T> {
    const client = await connect(pool, limit);
    client.on('error', ignore);
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
    if (!isPool(this.postgres) || isLasting(error)) return false;
    return !(error instanceof EvenShardsError) || error instanceof OutboxConnectionError;
  }

  private isReadOnlyForLong(): boolean {
    const now = this.settings.clock.now();
    this.readOnlySinceMs ??= now;
    return now - this.readOnlySinceMs >= LONGEST_READ_ONLY_MS;
  }

  private async relayOverOneConnection(
    limit: CallLimit,
    options: RelayRunOptions,
    onConnected: () => void,
  ): Promise<void> {
    const pooled = isPool(this.postgres) ? await connect(this.postgres, limit) : undefined;
    const client = pooled ?? (this.postgres as PostgresClient);
    const onLost = (error?: Error): void => {
      this.lost ??= error ?? new Error('the connection has ended');
      this.bell.ring();
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
      onConnected();
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
      // A connection that breaks while it is closed must not end the process: the pool closes it.
      if (!isBroken) client.removeListener('error', onLost);
      pooled?.release(isBroken);
    }
  }

  /** Compares the session with that of a second connection of the pool, unless the application needs all others for now. */
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
      // A pool that does not say how many connections it may have.
      if (pool.totalCount === 1 && error instanceof OutboxConnectionError) throw needsTwoConnections();
      await session.check();
    }
  }

  /** Takes ranges and gives them back as workers come and go, until the signal aborts, or it is to stand by and should not. */
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
        await this.bell.sleep(leaseMs);
      }
    } finally {
      for (const { relay } of this.ranges.values()) relay.stop();
      await Promise.all([...this.ranges.values()].map(({ ended }) => ended));
    }
    this.throwIfFailed();
  }

  /**
   * Takes one more range if nobody holds fewer, and gives one back if somebody holds two fewer.
   *
   * @returns whether one that has none may get one soon, because another holds two
   */
  private async balance(statements: Statements, session: RelaySession): Promise<boolean> {
    const keyRanges = new KeyRanges(statements);
    const { mine, others } = await keyRanges.holdings();
    if (mine === undefined) await session.checkLock();
    const fewest = Math.min(...others);
    if (mine === undefined || mine <= fewest) {
      const range = await keyRanges.claim(this.ranges.keys());
      if (range !== undefined) {
        // To take it over was a write.
        this.readOnlySinceMs = undefined;
        this.relay(statements, range);
        this.bell.ring();
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
        this.bell.ring();
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
    'a pool of 2 connections or more: a relay needs two connections, one to relay and one to verify and to find poolers',
  );
}

/** Takes a connection of a pool; one that comes too late is closed. */
async function connect(pool: PostgresPool, limit: CallLimit): ReturnType<PostgresPool['connect']> {
  const listen = (client: PostgresClient): unknown => client.on('error', ignore);
  pool.on?.('connect', listen);
  const connecting = pool.connect();
  try {
    return await callWithin(limit, () => connecting);
  } catch (error) {
    connecting.then(
      (late) => late.release(true),
      () => {},
    );
    // Postgres gives its errors a code, and so does the system.
    throw (error as { code?: string }).code === undefined ? new OutboxConnectionError({ cause: error }) : error;
  } finally {
    pool.removeListener?.('connect', listen);
  }
}

/** The statement that is in flight fails, too. */
function ignore(): void {}

function isPool(postgres: PostgresPool | PostgresClient): postgres is PostgresPool {
  return 'totalCount' in postgres;
}
