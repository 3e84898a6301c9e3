import { ProducerAbortedError, ProducerClosedError, type PutObserver, StreamDistributionError } from '../producer';
import { Bell } from './bell';
import type { HeldRange, OutboxDatabase, OutboxRow, Window } from './outbox-database';
import { OutboxLeaseError } from './outbox-errors';
import { ParkedKeys, type PutRows } from './parked-keys';
import { type Batch, Progress, type RangePosition } from './progress';
import type { RelaySettings } from './relay-options';
import type { RelaySummary } from './relay-summary';
import { RowsInFlight } from './rows-in-flight';
import type { Streams } from './streams';

/** Rows that have ended are remembered behind one that has not, up to so many for each that may be in flight. */
const ROWS_FOLLOWED = 16;

/** What Postgres copies to the table of the parked rows, and later reads and deletes there, in a millisecond. */
const ROWS_PARKED_A_MS = 50;

/** The first looks after there was nothing to read: a writer may not have known that it was to notify. */
const FIRST_POLL_MS = 10;

/**
 * Relays the rows of one range of keys, in windows, for as long as the range is held.
 *
 * It reads in batches: the rows that a new snapshot sees and the one before did not. So no row is skipped, however late its
 * transaction commits, and none is read twice. Within a batch it reads by number, and a key's numbers grow in the order of
 * its commits.
 */
export class RangeRelay {
  private readonly bell: Bell;
  private readonly saveBell: Bell;
  private readonly inFlight: RowsInFlight;
  private readonly progress: Progress;
  private readonly parked: ParkedKeys;
  /** Rows that were acknowledged since what is acknowledged was last noted, but for parked ones. */
  private acknowledged: bigint[] = [];
  private batch?: Batch;
  private nextWindow?: Promise<Window>;
  /** The snapshot that has seen all that was read, but for the batch. */
  private from: string;
  /** The last row that was read of the batch. */
  private afterId: bigint;
  private isStopping = false;
  private hasEnded = false;
  private isSleeping = false;
  private isWaitingForRoom = false;
  /** Until when keys that have their share are waited for. */
  private patienceEndsAtMs = 0;
  private pollMs = FIRST_POLL_MS;
  private failure?: { error: unknown };

  constructor(
    private readonly database: OutboxDatabase,
    private readonly streams: Streams,
    readonly range: HeldRange,
    private readonly settings: RelaySettings,
    private readonly summary: RelaySummary,
  ) {
    this.bell = new Bell(settings.clock);
    this.saveBell = new Bell(settings.clock);
    this.inFlight = new RowsInFlight(settings);
    this.progress = new Progress({ ...range.position });
    this.from = range.position.from;
    this.afterId = range.position.afterId;
    this.parked = new ParkedKeys(database, range, settings, summary, this.putParked, () => this.bell.ring());
  }

  /**
   * Relays until it is stopped and every row that the producer has has ended; then saves how far it came.
   *
   * @throws OutboxLeaseError if another worker has taken the range over; what the database or the producer throws
   */
  async run(): Promise<void> {
    await this.parked.load();
    const { from, to } = this.range.position;
    if (to !== undefined) this.batch = { from, to, firstId: 0n };
    await Promise.all([this.guard(this.read()), this.guard(this.parked.run()), this.guard(this.saveNowAndThen())]);
    if (this.failure !== undefined) throw this.failure.error;
  }

  /** From now on it reads no more rows. */
  stop(): void {
    this.isStopping = true;
    this.parked.stop();
    this.bell.ring();
  }

  /** Tells the relay that writers have committed. */
  wake(): void {
    this.pollMs = FIRST_POLL_MS;
    this.bell.ring();
  }

  /** Ends all parts if one of them fails. */
  private async guard(part: Promise<void>): Promise<void> {
    try {
      await part;
    } catch (error) {
      this.fail(error);
    }
  }

  private fail(error: unknown): void {
    this.failure ??= { error };
    this.stop();
  }

  private async read(): Promise<void> {
    try {
      while (!this.isStopping) {
        this.makeRoomForParkedKeys();
        if (!this.hasRoom()) await this.waitForRoom(this.settings.saveMs);
        else if (this.batch === undefined) await this.beginBatch();
        else await this.readWindow(this.batch);
      }
    } finally {
      this.stop();
      await this.inFlight.empty();
      this.hasEnded = true;
      this.saveBell.ring();
    }
  }

  /**
   * Forgets parked keys if there is no room for others. A window says which of its keys have parked rows, but only of keys that were
   * parked when Postgres read it. So a window that was read ahead is read again.
   */
  private makeRoomForParkedKeys(): void {
    if (this.parked.forgetKeys()) this.nextWindow = undefined;
  }

  private hasRoom(): boolean {
    if (this.inFlight.isFull || this.parked.isFull) return false;
    this.progress.reached();
    return this.progress.length < ROWS_FOLLOWED * this.settings.maxRowsInFlight;
  }

  private async waitForRoom(atMostMs: number): Promise<void> {
    this.isWaitingForRoom = true;
    await this.bell.sleep(atMostMs);
    this.isWaitingForRoom = false;
  }

  private leave(row: OutboxRow): void {
    this.inFlight.remove(row);
    if (this.isWaitingForRoom) this.bell.ring();
  }

  private async beginBatch(): Promise<void> {
    const { from } = this;
    const look = await this.database.look(this.range, from);
    if (look === undefined) throw new OutboxLeaseError(this.range.number);
    const { to, firstId, hasRows } = look;
    if (!hasRows) {
      // What is saved stays: whoever begins there finds the same rows.
      this.from = to;
      return this.sleep();
    }
    this.batch = { from, to, firstId };
    this.afterId = 0n;
    this.progress.begin(this.batch);
  }

  private async readWindow(batch: Batch): Promise<void> {
    const { rows, isLast, parkedKeys } = await (this.nextWindow ?? this.askForWindow(batch));
    this.nextWindow = undefined;
    if (this.isStopping) return;
    for (const key of parkedKeys) this.parked.remember(key);
    for (const row of rows) this.progress.read(row.read);
    if (rows.length > 0) {
      this.afterId = rows.at(-1)!.id;
      if (!isLast) this.askAhead(batch);
      await this.feed(rows);
    }
    if (isLast) this.endBatch(batch);
    await this.noteLoad(rows.length);
  }

  /** Postgres reads a window while the one before goes to the producer. */
  private askAhead(batch: Batch): void {
    this.nextWindow = this.askForWindow(batch);
    // Whoever takes the window hears of its failure; nobody does if the relay stops before.
    this.nextWindow.catch(() => {});
  }

  private askForWindow(batch: Batch): Promise<Window> {
    const { windowRows: maxRows, windowBytes: maxBytes } = this.settings;
    const findsParkedKeys = !this.parked.knowsAllKeys;
    return this.database.readWindow(this.range, batch, { afterId: this.afterId, maxRows, maxBytes, findsParkedKeys });
  }

  private endBatch(batch: Batch): void {
    this.progress.end(batch);
    this.batch = undefined;
    this.from = batch.to;
  }

  /** Under load writers need not notify; that would make them wait for each other. */
  private async noteLoad(rows: number): Promise<void> {
    if (rows > 0) this.pollMs = FIRST_POLL_MS;
    if (rows < this.settings.windowRows || !this.isSleeping) return;
    this.isSleeping = false;
    await this.database.setSleeping(false);
  }

  /** Sleeps until there may be rows. The first time it looks once more, for a row of a writer that did not notify yet. */
  private async sleep(): Promise<void> {
    if (!this.isSleeping) {
      this.isSleeping = true;
      await this.database.setSleeping(true);
      return;
    }
    await this.bell.sleep(Math.min(this.pollMs, this.settings.pollMs));
    this.pollMs *= 4;
  }

  /**
   * Hands a window to the producer. A key that has its share is waited for as long as it would take to park what the window
   * has: a key that moves faster than that is never parked, and one that does not keeps others waiting twice as long at most.
   */
  private async feed(window: readonly OutboxRow[]): Promise<void> {
    const { clock } = this.settings;
    this.patienceEndsAtMs = clock.now() + Math.ceil(window.length / ROWS_PARKED_A_MS);
    for (const rows of this.inFlight.pieces(window)) {
      while (this.mustWaitFor(rows)) {
        const leftMs = this.patienceEndsAtMs - clock.now();
        if (leftMs <= 0) break;
        await this.waitForRoom(leftMs);
      }
      await this.handOver(rows);
    }
  }

  private mustWaitFor(rows: readonly OutboxRow[]): boolean {
    return (
      !this.isStopping &&
      rows.some(({ partitionKey: key }) => this.inFlight.isHalfFullFor(key) && !this.parked.has(key))
    );
  }

  /** Resolves when the producer has taken the rows, so that the next come behind them. */
  private async handOver(rows: readonly OutboxRow[]): Promise<void> {
    const toPark: OutboxRow[] = [];
    const pulls = this.streams.divide(rows).map(
      ([stream, own]) =>
        new Promise<void>((pulled) => {
          const source = pulledBy(this.direct(own, toPark), pulled);
          stream.putAll(source, this.observer).catch((error) => {
            this.fail(error);
            pulled();
          });
        }),
    );
    await Promise.all(pulls);
    await this.parked.park(toPark);
  }

  /** Yields the rows that go at once, and puts the others aside. */
  private *direct(rows: readonly OutboxRow[], toPark: OutboxRow[]): Generator<OutboxRow> {
    for (const row of rows) {
      // An earlier row of its key may be rejected from now on, and is left to the next worker.
      if (this.isStopping) return;
      if (this.parked.has(row.partitionKey) || this.inFlight.isFullFor(row.partitionKey)) {
        this.parked.expect(row);
        toPark.push(row);
      } else {
        this.inFlight.add(row);
        yield row;
      }
    }
  }

  private readonly observer: PutObserver<OutboxRow> = {
    delivered: (_, row) => {
      row.read.hasEnded = true;
      this.acknowledged.push(row.id);
      this.summary.relayed += 1;
      this.leave(row);
    },
    rejected: (_, row, error) => {
      if (this.isForTheRow(error)) this.parked.reject(row);
      this.leave(row);
    },
  };

  private readonly putParked: PutRows = async (rows, ends) => {
    const inFlight = this.inFlight;
    const isStopping = (): boolean => this.isStopping;
    function* counted(own: readonly OutboxRow[]): Generator<OutboxRow> {
      for (const row of own) {
        if (isStopping() || !ends.mayGo(row)) continue;
        inFlight.add(row);
        yield row;
      }
    }
    const observer: PutObserver<OutboxRow> = {
      delivered: (_, row) => {
        this.summary.relayed += 1;
        this.leave(row);
        ends.delivered(row);
      },
      rejected: (_, row, error) => {
        this.leave(row);
        if (this.isForTheRow(error)) ends.rejected(row, error);
      },
    };
    await Promise.all(this.streams.divide(rows).map(([stream, own]) => stream.putAll(counted(own), observer)));
  };

  /** Says whether a rejection is for the row. If it is not, the row is relayed by whoever holds the range next. */
  private isForTheRow(error: Error): boolean {
    const isOfTheProducer =
      error instanceof ProducerAbortedError ||
      error instanceof ProducerClosedError ||
      error instanceof StreamDistributionError;
    if (isOfTheProducer) this.fail(error);
    return !this.isStopping;
  }

  private async saveNowAndThen(): Promise<void> {
    let saved = this.range.position;
    for (let isLastTime = false; !isLastTime; ) {
      await this.saveBell.sleep(this.settings.saveMs);
      isLastTime = this.hasEnded;
      const reached = this.progress.reached();
      const acknowledged = this.acknowledged.splice(0);
      if (isSame(reached, saved) && acknowledged.length === 0) continue;
      if (!(await this.database.save(this.range, reached, acknowledged))) throw new OutboxLeaseError(this.range.number);
      saved = reached;
    }
  }
}

function isSame(a: RangePosition, b: RangePosition): boolean {
  return a.from === b.from && a.to === b.to && a.afterId === b.afterId;
}

/** A source that says when all of it was pulled, or nothing more is going to be. */
function* pulledBy<T>(source: Iterable<T>, pulled: () => void): Generator<T> {
  try {
    yield* source;
  } finally {
    pulled();
  }
}
