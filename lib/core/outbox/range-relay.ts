import { ProducerAbortedError, ProducerClosedError, type PutObserver, StreamDistributionError } from '../producer';
import { Bell } from './bell';
import type { Batch, NewRows } from './new-rows';
import type { OutboxRow } from './outbox-row';
import { ParkedKeys, type PutRows } from './parked-keys';
import type { ParkedTable } from './parked-table';
import { Progress, type RangePosition, type Span } from './progress';
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
 * Relays the rows of one range of keys, in batches, for as long as the range is held.
 *
 * It reads one span after another: the rows that a new snapshot sees and the snapshot before did not. So no row is skipped,
 * however late its transaction commits, and no row is read twice. Within a span it reads by number, and the numbers of a key
 * grow in the order of its commits.
 */
export class RangeRelay {
  private readonly bell: Bell;
  private readonly saveBell: Bell;
  private readonly inFlight: RowsInFlight;
  private readonly progress: Progress;
  private readonly parked: ParkedKeys;
  /** Rows that were acknowledged since what is acknowledged was last noted, but for parked ones. */
  private acknowledged: bigint[] = [];
  private span?: Span;
  private nextBatch?: Promise<Batch>;
  /** The snapshot that sees every row that was read before the span. */
  private from: string;
  /** The last row that was read of the span. */
  private afterId: bigint;
  private isStopping = false;
  private hasEnded = false;
  private isSleeping = false;
  private isWaitingForRoom = false;
  /** How long the batch waits for keys that have their share. */
  private waitsUntilAtMs = 0;
  private pollMs = FIRST_POLL_MS;
  private failure?: { error: unknown };

  constructor(
    private readonly newRows: NewRows,
    parkedTable: ParkedTable,
    private readonly streams: Streams,
    private readonly settings: RelaySettings,
    private readonly summary: RelaySummary,
  ) {
    this.bell = new Bell(settings.clock);
    this.saveBell = new Bell(settings.clock);
    this.inFlight = new RowsInFlight(settings);
    const { position } = newRows.range;
    this.progress = new Progress({ ...position });
    this.from = position.from;
    this.afterId = position.afterId;
    this.parked = new ParkedKeys(parkedTable, settings, summary, this.putParked, () => this.bell.ring());
  }

  /**
   * Relays until it is stopped and every row that the producer has has ended; then saves how far it came.
   *
   * @throws OutboxLeaseError if another worker has taken the range over; what the database or the producer throws
   */
  async run(): Promise<void> {
    await this.parked.load();
    const { from, to } = this.newRows.range.position;
    if (to !== undefined) this.span = { from, to, firstId: 0n };
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
        else if (this.span === undefined) await this.beginSpan();
        else await this.readBatch(this.span);
      }
    } finally {
      this.stop();
      await this.inFlight.empty();
      this.hasEnded = true;
      this.saveBell.ring();
    }
  }

  /**
   * Forgets parked keys if there is no room for others. A batch tells which of its keys have parked rows, but only of keys that
   * were parked when Postgres read it. So a batch that was read ahead is read again.
   */
  private makeRoomForParkedKeys(): void {
    if (this.parked.forgetKeys()) this.nextBatch = undefined;
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

  private async beginSpan(): Promise<void> {
    const { from } = this;
    const { to, firstId, hasRows } = await this.newRows.takeSnapshot(from);
    if (!hasRows) {
      // The saved position stays: a worker that begins there finds the same rows.
      this.from = to;
      return this.sleep();
    }
    this.span = { from, to, firstId };
    this.afterId = 0n;
    this.progress.begin(this.span);
  }

  private async readBatch(span: Span): Promise<void> {
    const { rows, isLast, parkedKeys } = await (this.nextBatch ?? this.requestBatch(span));
    this.nextBatch = undefined;
    if (this.isStopping) return;
    for (const key of parkedKeys) this.parked.remember(key);
    for (const row of rows) this.progress.read(row.read);
    if (rows.length > 0) {
      this.afterId = rows.at(-1)!.id;
      if (!isLast) this.readAhead(span);
      await this.feed(rows);
    }
    if (isLast) this.endSpan(span);
    await this.noteLoad(rows.length);
  }

  /** Lets Postgres read a batch while the batch before goes to the producer. */
  private readAhead(span: Span): void {
    this.nextBatch = this.requestBatch(span);
    // The reader of the batch handles its failure. If the relay stops before, the failure does not matter.
    this.nextBatch.catch(() => {});
  }

  private requestBatch(span: Span): Promise<Batch> {
    const { batchRows: maxRows, batchBytes: maxBytes } = this.settings;
    const findsParkedKeys = !this.parked.knowsAllKeys;
    return this.newRows.readBatch(span, { afterId: this.afterId, maxRows, maxBytes, findsParkedKeys });
  }

  private endSpan(span: Span): void {
    this.progress.end(span);
    this.span = undefined;
    this.from = span.to;
  }

  /** Under load writers need not notify; that would make them wait for each other. */
  private async noteLoad(rows: number): Promise<void> {
    if (rows > 0) this.pollMs = FIRST_POLL_MS;
    if (rows < this.settings.batchRows || !this.isSleeping) return;
    this.isSleeping = false;
    await this.newRows.setSleeping(false);
  }

  /** Sleeps until there may be rows. The first time it looks once more, for a row of a writer that did not notify yet. */
  private async sleep(): Promise<void> {
    if (!this.isSleeping) {
      this.isSleeping = true;
      await this.newRows.setSleeping(true);
      return;
    }
    await this.bell.sleep(Math.min(this.pollMs, this.settings.pollMs));
    this.pollMs *= 4;
  }

  /**
   * Hands a batch to the producer. It waits for a key that has its share as long as it would take to park the rows of the batch.
   * So a key that moves faster is never parked, and a slower key delays other keys by at most twice that time.
   */
  private async feed(batch: readonly OutboxRow[]): Promise<void> {
    const { clock } = this.settings;
    this.waitsUntilAtMs = clock.now() + Math.ceil(batch.length / ROWS_PARKED_A_MS);
    for (const rows of this.inFlight.pieces(batch)) {
      while (this.mustWaitFor(rows)) {
        const leftMs = this.waitsUntilAtMs - clock.now();
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
    let saved = this.newRows.range.position;
    for (let isLastTime = false; !isLastTime; ) {
      await this.saveBell.sleep(this.settings.saveMs);
      isLastTime = this.hasEnded;
      const reached = this.progress.reached();
      const acknowledged = this.acknowledged.splice(0);
      if (isSame(reached, saved) && acknowledged.length === 0) continue;
      await this.newRows.save(reached, acknowledged);
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
