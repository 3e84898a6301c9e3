import { setImmediate } from 'node:timers/promises';
import { isObject } from '../kernel/checks';
import { Condition } from '../kernel/condition';
import { InvalidArgumentError } from '../kernel/errors';
import { RecentMap } from '../kernel/recent-map';
import type { Backlog } from './backlog';
import { PendingRecord, type PutReceipt } from './pending-record';
import { EarlierRecordFailedError } from './producer-errors';
import type { ProducerRecord } from './producer-record';

/** The result of a `putAll`. */
export interface PutSummary {
  /** Records with a receipt. */
  delivered: number;
  /** Records that were rejected, or not sent because an earlier record of their key was rejected. */
  rejected: number;
  /** The first rejection, with the record's position in the source. */
  firstRejection?: { index: number; error: Error };
}

/**
 * Gets the result of every record, with its position in the source. If a method returns a promise, `putAll` waits for the
 * promise before it ends. While as many records wait for such promises as the buffer may hold, `putAll` pulls no further record.
 */
export interface PutObserver<R extends ProducerRecord> {
  delivered?(index: number, record: R, receipt: PutReceipt): unknown;
  rejected?(index: number, record: R, error: Error): unknown;
}

/** The part of the producer that `putAll` uses. */
interface PutSink {
  /** Aborted, with the reason, when the producer accepts no more records. */
  readonly ended: AbortSignal;
  /** Whether the later records of a key are sent after a rejection. */
  readonly skipRejected: boolean;
  /**
   * Accepts a record. The record gets its result exactly once. Only an invalid record gets its result before this method returns.
   */
  accept(record: PendingRecord): void;
  /** Waits until the buffer has room for another record of this key. Returns undefined if it has room now. */
  room(partitionKey: string): Promise<void> | undefined;
  /** The records whose result an observer still processes. A separate buffer, because the observer may put records itself. */
  readonly observed: Backlog;
}

/** Yield to the event loop after this many records, even if the source always has data and the buffer never fills. */
const PULLS_PER_TURN = 1_000;

/** How many rejected keys a `putAll` remembers, so that its memory is bounded for sources without end. */
const MAX_REJECTED_KEYS = 100_000;

/** Pulls records from a source into the sink, as fast as the sink has room, and counts their results. */
export async function putAll<R extends ProducerRecord>(
  sink: PutSink,
  records: Iterable<R> | AsyncIterable<R>,
  observer: PutObserver<R>,
): Promise<PutSummary> {
  if (!isObject(observer)) {
    throw new InvalidArgumentError('observer', observer, 'an object with the optional methods delivered and rejected');
  }
  const tally = new Tally(observer, sink);
  const { iterator, isAsync } = iteratorOf(records);
  let exhausted = false;
  try {
    for (let index = 0; ; index++) {
      sink.ended.throwIfAborted();
      tally.throwIfBroken();
      const step = iterator.next();
      const { done, value } = checkedStep<R>(isAsync ? await unlessEnded(step, sink.ended) : step);
      exhausted = done === true;
      if (done) break;
      sink.ended.throwIfAborted();
      tally.put(index, value);
      const room = sink.room(value?.partitionKey);
      if (room !== undefined) await room;
      const roomOfObserver = sink.observed.room(undefined);
      if (roomOfObserver !== undefined) await roomOfObserver;
      if ((index + 1) % PULLS_PER_TURN === 0) await setImmediate();
    }
  } finally {
    if (!exhausted) closeSource(iterator);
    await tally.ended();
  }
  tally.throwIfBroken();
  return tally.summary;
}

/** Counts the results of one `putAll`, and rejects later records of keys that had a rejection. */
class Tally<R extends ProducerRecord> {
  readonly summary: PutSummary = { delivered: 0, rejected: 0 };
  /** The keys whose later records are not sent. */
  private readonly failedKeys = new RecentMap<string, true>(MAX_REJECTED_KEYS);
  private pending = 0;
  /** The methods of the observer. They are read once, because an error of a getter would disturb the records later. */
  private readonly methods: PutObserver<R>;
  private observerError?: { error: unknown };
  private readonly drained = new Condition();

  constructor(
    private readonly observer: PutObserver<R>,
    private readonly sink: PutSink,
  ) {
    const { delivered, rejected } = observer;
    this.methods = { delivered, rejected };
  }

  put(index: number, record: R): void {
    this.pending += 1;
    const pending = new SourceRecord(this, index, record);
    if (this.failedKeys.get(record?.partitionKey)) pending.rejected(new EarlierRecordFailedError(record.partitionKey));
    else this.sink.accept(pending);
  }

  delivered(pending: SourceRecord<R>, receipt: PutReceipt): void {
    this.summary.delivered += 1;
    const { delivered } = this.methods;
    if (delivered === undefined) this.closeOne();
    else this.close(pending, () => delivered.call(this.observer, pending.index, pending.record, receipt));
  }

  rejected(pending: SourceRecord<R>, error: Error): void {
    const { index, record } = pending;
    // An invalid record may have no partition key.
    if (!this.sink.skipRejected && typeof record?.partitionKey === 'string')
      this.failedKeys.set(record.partitionKey, true);
    this.summary.rejected += 1;
    const first = this.summary.firstRejection;
    if (first === undefined || index < first.index) this.summary.firstRejection = { index, error };
    this.close(pending, () => this.methods.rejected?.call(this.observer, index, record, error));
  }

  /** Resolves when every record that was put has its result. */
  async ended(): Promise<void> {
    while (this.pending > 0) await this.drained.change();
  }

  throwIfBroken(): void {
    if (this.observerError !== undefined) throw this.observerError.error;
  }

  /**
   * Calls the observer, and then counts the result. An error of the observer is thrown only after all records have their results,
   * so that the error does not disturb the other records.
   */
  private close(pending: SourceRecord<R>, observe: () => unknown): void {
    let observed: unknown;
    let isPromise = false;
    try {
      observed = observe();
      isPromise = typeof Object(observed).then === 'function';
    } catch (error) {
      this.observerError ??= { error };
    }
    // Await only promises, because a microtask for each record would take time.
    if (isPromise) void this.closeAfter(pending, observed);
    else this.closeOne();
  }

  private async closeAfter(pending: SourceRecord<R>, observed: unknown): Promise<void> {
    this.sink.observed.reserve(pending);
    try {
      await observed;
    } catch (error) {
      this.observerError ??= { error };
    }
    this.sink.observed.release(pending);
    this.closeOne();
  }

  private closeOne(): void {
    this.pending -= 1;
    if (this.pending === 0) this.drained.notifyAll();
  }
}

class SourceRecord<R extends ProducerRecord> extends PendingRecord<R> {
  constructor(
    private readonly tally: Tally<R>,
    readonly index: number,
    record: R,
  ) {
    super(record);
  }

  delivered(receipt: PutReceipt): void {
    this.tally.delivered(this, receipt);
  }

  rejected(error: Error): void {
    this.tally.rejected(this, error);
  }
}

const SOURCE = 'an iterable or an async iterable of records';

/** The iterator of a source, and whether it is asynchronous. */
function iteratorOf<R>(records: Iterable<R> | AsyncIterable<R>): {
  iterator: Iterator<R> | AsyncIterator<R>;
  isAsync: boolean;
} {
  const source: Partial<Iterable<R> & AsyncIterable<R>> = Object(records);
  const isAsync = typeof source[Symbol.asyncIterator] === 'function';
  // Rejects a string, because it is an iterable of characters.
  if (typeof records !== 'object' || (!isAsync && typeof source[Symbol.iterator] !== 'function')) {
    throw new InvalidArgumentError('records', records, SOURCE);
  }
  const iterator = isAsync ? source[Symbol.asyncIterator]!() : source[Symbol.iterator]!();
  if (typeof Object(iterator).next !== 'function') throw new InvalidArgumentError('records', records, SOURCE);
  return { iterator, isAsync };
}

function checkedStep<R>(step: unknown): IteratorResult<R> {
  if (isObject(step)) return step as unknown as IteratorResult<R>;
  throw new InvalidArgumentError('records', step, `${SOURCE} (each call of next must return an object)`);
}

/** Closes a source. It does not wait for the source, because a source that hangs in `next` also hangs in `return`. */
function closeSource(iterator: Iterator<unknown> | AsyncIterator<unknown>): void {
  const closed = async (): Promise<unknown> => iterator.return?.();
  closed().catch(() => {});
}

/** Resolves as the promise does, or rejects with the reason of the signal if the signal aborts first. */
function unlessEnded<T>(promise: T | Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const onEnd = (): void => reject(signal.reason);
    if (signal.aborted) onEnd();
    signal.addEventListener('abort', onEnd);
    Promise.resolve(promise)
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', onEnd));
  });
}
