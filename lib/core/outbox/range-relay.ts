import { ProducerAbortedError, ProducerClosedError, type PutObserver, StreamDistributionError } from '../producer';
import type { Batch, NewRows } from './new-rows';
import type { OutboxRow } from './outbox-row';
import { ParkedKeys, type PutRows } from './parked-keys';
import type { ParkedTable } from './parked-table';
import { Progress, type RangePosition, type Span } from './progress';
import type { RelaySettings } from './relay-options';
import type { RelaySummary } from './relay-summary';
import { RowsInFlight } from './rows-in-flight';
import type { Streams } from './streams';
import { WakeSignal } from './wake-signal';

/**
 * If a row has not ended, the relay also tracks the later rows that have ended. It tracks at most `maxRowsInFlight` times this
 * number of rows.
 */
const ROWS_TRACKED = 16;

/**
 * How many rows Postgres can park in a millisecond. To park a row means to copy it to the table `parked`, and later to read it
 * and delete it there.
 */
const ROWS_PARKED_A_MS = 50;

/**
 * The first delay between polls without rows. It is short, because a writer sends no notification until it has seen that the
 * relay waits for notifications. Until then, only a poll finds new rows.
 */
const FIRST_POLL_MS = 10;

/**
 * Relays the rows of one key range, in batches, while the worker holds the range.
 *
 * It reads one span after the other. A span has the rows that a new snapshot sees and the previous snapshot did not see. So no
 * row is skipped, even if its transaction commits late, and no row is read twice. Within a span it reads the rows in the order of
 * their numbers. The rows of a key have increasing numbers in the order of their commits.
 */
export class RangeRelay {
  private readonly wakeSignal: WakeSignal;
  private readonly saveSignal: WakeSignal;
  private readonly inFlight: RowsInFlight;
  private readonly progress: Progress;
  private readonly parked: ParkedKeys;
  /** The numbers of the rows that were acknowledged since the last save, except parked rows. */
  private acknowledged: bigint[] = [];
  private span?: Span;
  private nextBatch?: Promise<Batch>;
  /** A snapshot that sees every row that was read before the current span. */
  private from: string;
  /** The number of the last row that was read in the span. */
  private afterId: bigint;
  private isStopping = false;
  private hasEnded = false;
  private isSleeping = false;
  private isWaitingForRoom = false;
  /** The time until which a batch waits for keys that have used half of their share of the rows in flight. */
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
    this.wakeSignal = new WakeSignal(settings.clock);
    this.saveSignal = new WakeSignal(settings.clock);
    this.inFlight = new RowsInFlight(settings);
    const { position } = newRows.range;
    this.progress = new Progress({ ...position });
    this.from = position.from;
    this.afterId = position.afterId;
    this.parked = new ParkedKeys(parkedTable, settings, summary, this.putParked, () => this.wakeSignal.notify());
  }

  /**
   * Relays until `stop` is called and all rows in flight have their results. Then it saves its position.
   *
   * @throws OutboxLeaseError if another worker has taken over the range
   * @throws the errors of the database and of the producer
   */
  async run(): Promise<void> {
    await this.parked.load();
    const { from, to } = this.newRows.range.position;
    if (to !== undefined) this.span = { from, to, firstId: 0n };
    await Promise.all([this.guard(this.read()), this.guard(this.parked.run()), this.guard(this.saveRegularly())]);
    if (this.failure !== undefined) throw this.failure.error;
  }

  /** Stops reading rows. */
  stop(): void {
    this.isStopping = true;
    this.parked.stop();
    this.wakeSignal.notify();
  }

  /** Call this when writers have committed rows. */
  wake(): void {
    this.pollMs = FIRST_POLL_MS;
    this.wakeSignal.notify();
  }

  /** Waits for one of the loops of the relay. If the loop fails, stops all loops. */
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
      this.saveSignal.notify();
    }
  }

  /**
   * Forgets parked keys if memory is full. A batch shows which of its keys had parked rows when Postgres read the batch. So a
   * batch that was already requested must be read again.
   */
  private makeRoomForParkedKeys(): void {
    if (this.parked.forgetKeys()) this.nextBatch = undefined;
  }

  private hasRoom(): boolean {
    if (this.inFlight.isFull || this.parked.isFull) return false;
    this.progress.reached();
    return this.progress.length < ROWS_TRACKED * this.settings.maxRowsInFlight;
  }

  private async waitForRoom(atMostMs: number): Promise<void> {
    this.isWaitingForRoom = true;
    await this.wakeSignal.sleep(atMostMs);
    this.isWaitingForRoom = false;
  }

  private release(row: OutboxRow): void {
    this.inFlight.remove(row);
    if (this.isWaitingForRoom) this.wakeSignal.notify();
  }

  private async beginSpan(): Promise<void> {
    const { from } = this;
    const { to, firstId, hasRows } = await this.newRows.takeSnapshot(from);
    if (!hasRows) {
      // The saved position need not change: a worker that starts at this position finds the same rows.
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

  /** Requests the next batch from Postgres while the current batch goes to the producer. */
  private readAhead(span: Span): void {
    this.nextBatch = this.requestBatch(span);
    // `readBatch` handles a failure of this request. If the relay stops before `readBatch` uses the batch, the failure has no
    // effect.
    this.nextBatch.catch(() => {});
  }

  private requestBatch(span: Span): Promise<Batch> {
    const { batchRows: maxRows, batchBytes: maxBytes } = this.settings;
    const findsParkedKeys = !this.parked.hasAllKeys;
    return this.newRows.readBatch(span, { afterId: this.afterId, maxRows, maxBytes, findsParkedKeys });
  }

  private endSpan(span: Span): void {
    this.progress.end(span);
    this.span = undefined;
    this.from = span.to;
  }

  /** Turns notifications off under load, because they are not needed and would make writers wait for each other. */
  private async noteLoad(rows: number): Promise<void> {
    if (rows > 0) this.pollMs = FIRST_POLL_MS;
    if (rows < this.settings.batchRows || !this.isSleeping) return;
    this.isSleeping = false;
    await this.newRows.setSleeping(false);
  }

  /**
   * Sleeps until there may be rows. The first call only asks writers to notify. The relay then polls once more, because a writer
   * may have committed a row without a notification just before this call.
   */
  private async sleep(): Promise<void> {
    if (!this.isSleeping) {
      this.isSleeping = true;
      await this.newRows.setSleeping(true);
      return;
    }
    await this.wakeSignal.sleep(Math.min(this.pollMs, this.settings.pollMs));
    this.pollMs *= 4;
  }

  /**
   * Passes a batch to the producer. If a key has used half of its share of the rows in flight, the batch waits, but only as long
   * as parking the rows of the batch would take. So a key is never parked if its rows are acknowledged faster than rows can be
   * parked. A slower key delays other keys by at most twice that time.
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
      await this.sendRows(rows);
    }
  }

  private mustWaitFor(rows: readonly OutboxRow[]): boolean {
    return (
      !this.isStopping &&
      rows.some(({ partitionKey: key }) => this.inFlight.isHalfFullFor(key) && !this.parked.has(key))
    );
  }

  /** Passes rows to the producers. Resolves when the producers have pulled all rows, so that later rows come after these rows. */
  private async sendRows(rows: readonly OutboxRow[]): Promise<void> {
    const toPark: OutboxRow[] = [];
    const pulls = this.streams.divide(rows).map(
      ([stream, own]) =>
        new Promise<void>((pulled) => {
          const source = notifyWhenPulled(this.direct(own, toPark), pulled);
          stream.putAll(source, this.observer).catch((error) => {
            this.fail(error);
            pulled();
          });
        }),
    );
    await Promise.all(pulls);
    await this.parked.park(toPark);
  }

  /** Yields the rows that can be sent now, and adds the other rows to `toPark`. */
  private *direct(rows: readonly OutboxRow[], toPark: OutboxRow[]): Generator<OutboxRow> {
    for (const row of rows) {
      // After a stop, rejected rows are not parked but left to the next worker. So no later row of their keys may be sent.
      if (this.isStopping) return;
      if (this.parked.has(row.partitionKey) || this.inFlight.isFullFor(row.partitionKey)) {
        this.parked.announce(row);
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
      this.release(row);
    },
    rejected: (_, row, error) => {
      if (this.isRowRejection(error)) this.parked.reject(row);
      this.release(row);
    },
  };

  private readonly putParked: PutRows = async (rows, ends) => {
    const inFlight = this.inFlight;
    const isStopping = (): boolean => this.isStopping;
    function* counted(own: readonly OutboxRow[]): Generator<OutboxRow> {
      for (const row of own) {
        if (isStopping() || !ends.maySend(row)) continue;
        inFlight.add(row);
        yield row;
      }
    }
    const observer: PutObserver<OutboxRow> = {
      delivered: (_, row) => {
        this.summary.relayed += 1;
        this.release(row);
        ends.delivered(row);
      },
      rejected: (_, row, error) => {
        this.release(row);
        if (this.isRowRejection(error)) ends.rejected(row, error);
      },
    };
    await Promise.all(this.streams.divide(rows).map(([stream, own]) => stream.putAll(counted(own), observer)));
  };

  /**
   * Whether the row itself caused the rejection. After any other rejection, the next worker that holds the range relays the row.
   */
  private isRowRejection(error: Error): boolean {
    const isProducerError =
      error instanceof ProducerAbortedError ||
      error instanceof ProducerClosedError ||
      error instanceof StreamDistributionError;
    if (isProducerError) this.fail(error);
    return !this.isStopping;
  }

  private async saveRegularly(): Promise<void> {
    let saved = this.newRows.range.position;
    for (let isLastTime = false; !isLastTime; ) {
      await this.saveSignal.sleep(this.settings.saveMs);
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

/** Wraps a source, and calls `pulled` after the last pull. */
function* notifyWhenPulled<T>(source: Iterable<T>, pulled: () => void): Generator<T> {
  try {
    yield* source;
  } finally {
    pulled();
  }
}
