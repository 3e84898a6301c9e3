import { setImmediate } from 'node:timers/promises';
import { InvalidArgumentError } from '../kernel/errors';
import { PendingRecord, type PutReceipt } from './pending-record';
import { EarlierRecordFailedError } from './producer-errors';
import type { ProducerRecord } from './producer-record';

/** How a `putAll` went. */
export interface PutSummary {
  /** Records with a receipt. */
  delivered: number;
  /** Records that were refused, or not sent because an earlier record of their key was. */
  rejected: number;
  /** The first rejection, with the record's position in the source. */
  firstRejection?: { index: number; error: Error };
}

/** Is told of every record's end, with its position in the source. `putAll` waits for what its methods return. */
export interface PutObserver<R extends ProducerRecord> {
  delivered?(index: number, record: R, receipt: PutReceipt): unknown;
  rejected?(index: number, record: R, error: Error): unknown;
}

/** What `putAll` needs of the producer. */
export interface PutSink {
  /** Aborted, with the reason, when the producer takes no more records. */
  readonly ended: AbortSignal;
  /** Whether a rejection leaves the later records of its key to be sent. */
  readonly skipsRejected: boolean;
  /** Takes a record, which hears of its end once, and never before this returns unless it is invalid. */
  accept(record: PendingRecord): void;
  /** Waits until the buffer has room for more, also of this key; undefined when it has. */
  room(partitionKey: string): Promise<void> | undefined;
}

/** A source that is never short and records that never fill the buffer must still let others have their turn. */
const PULLS_PER_TURN = 1_000;

/** How many rejected keys a `putAll` remembers, so that an endless source with endless keys has an end in memory. */
const MAX_REJECTED_KEYS = 100_000;

/** Pulls records from a source into the sink, as fast as the sink has room, and sums up how they ended. */
export async function putAll<R extends ProducerRecord>(
  sink: PutSink,
  records: Iterable<R> | AsyncIterable<R>,
  observer: PutObserver<R>,
): Promise<PutSummary> {
  if (typeof observer !== 'object' || observer === null) {
    throw new InvalidArgumentError('observer', observer, 'an object with delivered, rejected, or none of them');
  }
  const tally = new Tally(observer, sink.skipsRejected);
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
      tally.put(sink, index, value);
      const room = sink.room(value?.partitionKey);
      if (room !== undefined) await room;
      if ((index + 1) % PULLS_PER_TURN === 0) await setImmediate();
    }
  } finally {
    if (!exhausted) giveUp(iterator);
    await tally.ended();
  }
  tally.throwIfBroken();
  return tally.summary;
}

/** Keeps the books of one `putAll`: what ended how, and which keys are not to be sent any more. */
class Tally<R extends ProducerRecord> {
  readonly summary: PutSummary = { delivered: 0, rejected: 0 };
  /** The keys that are not to be sent any more. The one whose last rejection is the longest ago comes first. */
  private readonly failedKeys = new Set<string>();
  private pending = 0;
  private observerError?: { error: unknown };
  private onEnded = (): void => {};

  constructor(
    private readonly observer: PutObserver<R>,
    private readonly skipsRejected: boolean,
  ) {}

  put(sink: PutSink, index: number, record: R): void {
    this.pending += 1;
    const pending = new SourceRecord(this, index, record);
    if (this.failedKeys.has(record?.partitionKey)) pending.rejected(new EarlierRecordFailedError(record.partitionKey));
    else sink.accept(pending);
  }

  delivered(index: number, record: R, receipt: PutReceipt): void {
    this.summary.delivered += 1;
    if (this.observer.delivered === undefined) this.closeOne();
    else this.close(() => this.observer.delivered!(index, record, receipt));
  }

  rejected(index: number, record: R, error: Error): void {
    // A record without a key has none to keep in order; it was refused for that.
    if (!this.skipsRejected && typeof record?.partitionKey === 'string') this.holdUp(record.partitionKey);
    this.summary.rejected += 1;
    const first = this.summary.firstRejection;
    if (first === undefined || index < first.index) this.summary.firstRejection = { index, error };
    this.close(() => this.observer.rejected?.(index, record, error));
  }

  /** Resolves when every record that was put has ended. */
  async ended(): Promise<void> {
    if (this.pending === 0) return;
    await new Promise<void>((resolve) => {
      this.onEnded = resolve;
    });
  }

  throwIfBroken(): void {
    if (this.observerError !== undefined) throw this.observerError.error;
  }

  private holdUp(partitionKey: string): void {
    this.failedKeys.delete(partitionKey);
    this.failedKeys.add(partitionKey);
    if (this.failedKeys.size > MAX_REJECTED_KEYS) this.failedKeys.delete(this.failedKeys.keys().next().value!);
  }

  /** An observer that throws must not disturb the records of others: its error waits until all have ended. */
  private close(observe: () => unknown): void {
    let observed: unknown;
    try {
      observed = observe();
    } catch (error) {
      this.observerError ??= { error };
    }
    // Without a promise the record has ended now, so that its place in the buffer is free.
    if (typeof Object(observed).then === 'function') void this.closeBehind(observed);
    else this.closeOne();
  }

  private async closeBehind(observed: unknown): Promise<void> {
    try {
      await observed;
    } catch (error) {
      this.observerError ??= { error };
    }
    this.closeOne();
  }

  private closeOne(): void {
    this.pending -= 1;
    if (this.pending === 0) this.onEnded();
  }
}

/** A record of a `putAll`, which tells the tally how it ended. */
class SourceRecord<R extends ProducerRecord> extends PendingRecord<R> {
  constructor(
    private readonly tally: Tally<R>,
    private readonly index: number,
    record: R,
  ) {
    super(record);
  }

  delivered(receipt: PutReceipt): void {
    this.tally.delivered(this.index, this.record, receipt);
  }

  rejected(error: Error): void {
    this.tally.rejected(this.index, this.record, error);
  }
}

const SOURCE = 'an iterable or an async iterable of records';

/** The iterator of a source, and whether it is an asynchronous one. */
function iteratorOf<R>(records: Iterable<R> | AsyncIterable<R>): {
  iterator: Iterator<R> | AsyncIterator<R>;
  isAsync: boolean;
} {
  const source: Partial<Iterable<R> & AsyncIterable<R>> = Object(records);
  const isAsync = typeof source[Symbol.asyncIterator] === 'function';
  // A string is an iterable, of characters: none of them is a record.
  if (typeof records !== 'object' || (!isAsync && typeof source[Symbol.iterator] !== 'function')) {
    throw new InvalidArgumentError('records', records, SOURCE);
  }
  const iterator = isAsync ? source[Symbol.asyncIterator]!() : source[Symbol.iterator]!();
  if (typeof Object(iterator).next !== 'function') throw new InvalidArgumentError('records', records, SOURCE);
  return { iterator, isAsync };
}

function checkedStep<R>(step: unknown): IteratorResult<R> {
  if (typeof step === 'object' && step !== null) return step as IteratorResult<R>;
  throw new InvalidArgumentError('records', step, `${SOURCE}, whose steps are objects`);
}

/** Tells a source that no more is pulled. Not waited for: one that hangs in `next` hangs in `return` as well. */
function giveUp(iterator: Iterator<unknown> | AsyncIterator<unknown>): void {
  const told = async (): Promise<unknown> => iterator.return?.();
  told().catch(() => {});
}

/** A promise, or the reason of the signal if that comes first. */
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
