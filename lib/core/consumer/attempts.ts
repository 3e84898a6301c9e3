import { backoffMs } from '../foundation/backoff';
import type { ConsumerSettings } from './consumer-options';
import { deaggregate, type UserRecord } from './deaggregate';
import { onceFor, saysDone } from './once';
import type { ParkedRecord } from './parking-store';
import type { Slots } from './slots';

/** The time that the work of an invocation has. */
export interface WorkTime {
  /** Aborts when nothing new may begin. */
  readonly signal: AbortSignal;
  readonly attemptTimeoutMs: number;
}

/** How an attempt ended. */
export type Outcome =
  | 'done'
  /** The time is over: it says nothing of the record. */
  | 'unfinished'
  | { error: unknown /** Whether the handler has ended, so that another attempt may begin. */; hasEnded: boolean };

/** The handler has not ended within the time of an attempt. */
class AttemptTimeoutError extends Error {
  override readonly name = 'AttemptTimeoutError';

  constructor(ms: number) {
    super(`the handler has not ended within ${Math.round(ms)} ms`);
  }
}

const BACKOFF_BASE_MS = 100;
const BACKOFF_CAP_MS = 2_000;

/** How long a handler may take to heed its signal. */
const GRACE_MS = 100;

/** Attempts at records, a bounded number at once. */
export class Attempts {
  constructor(
    private readonly settings: ConsumerSettings,
    private readonly slots: Slots,
    private readonly time: WorkTime,
  ) {}

  /** One attempt. */
  async attempt(record: ParkedRecord, attempt: number): Promise<Outcome> {
    const waiting = this.slots.take();
    if (waiting !== undefined) await waiting;
    try {
      if (this.time.signal.aborted) return 'unfinished';
      return await this.handle(record, attempt);
    } finally {
      this.slots.give();
    }
  }

  /** Waits before the next attempt, unless the time is over. */
  async backOff(attempts: number): Promise<void> {
    const { clock, random } = this.settings;
    const ms = backoffMs(attempts, { backoffBaseMs: BACKOFF_BASE_MS, backoffCapMs: BACKOFF_CAP_MS, random });
    const { signal } = this.time;
    if (signal.aborted) return;
    await new Promise<void>((resolve) => {
      const end = (): void => {
        cancel();
        signal.removeEventListener('abort', end);
        resolve();
      };
      const cancel = clock.schedule(end, ms);
      signal.addEventListener('abort', end);
    });
  }

  private async handle(record: ParkedRecord, attempt: number): Promise<Outcome> {
    const { clock } = this.settings;
    const { signal, attemptTimeoutMs } = this.time;
    const controller = new AbortController();
    const ended = this.call(record, attempt, controller.signal);
    let cancel = (): void => {};
    let stop = (): void => {};
    const over = new Promise<'time is over' | 'too long'>((resolve) => {
      cancel = clock.schedule(() => resolve('too long'), attemptTimeoutMs);
      stop = (): void => resolve('time is over');
      signal.addEventListener('abort', stop);
    });
    try {
      const first = await Promise.race([ended, over]);
      if (first !== 'too long' && first !== 'time is over') return first;
      controller.abort();
      if (first === 'time is over') return 'unfinished';
      const error = new AttemptTimeoutError(attemptTimeoutMs);
      const last = await Promise.race([ended, clock.sleep(GRACE_MS).then((): Outcome => ({ error, hasEnded: false }))]);
      return typeof last === 'object' && last.hasEnded ? { error, hasEnded: true } : last;
    } finally {
      cancel();
      signal.removeEventListener('abort', stop);
    }
  }

  private async call(record: ParkedRecord, attempt: number, signal: AbortSignal): Promise<Outcome> {
    const { handle, parking } = this.settings;
    try {
      const once = onceFor(parking, record.partitionKey, record.places[0]!);
      for (const userRecord of userRecordsOf(record)) await handle(userRecord, { attempt, signal, once });
      return 'done';
    } catch (error) {
      return saysDone(error) ? 'done' : { error, hasEnded: true };
    }
  }
}

/** The record as its handler sees it. One that could not be taken apart when it arrived says so again, or can be now. */
function userRecordsOf({ partitionKey, explicitHashKey, data, subSequenceNumber, sequence, isCorrupt }: ParkedRecord) {
  if (isCorrupt) return deaggregate({ partitionKey, data });
  const record: UserRecord = { partitionKey, data, subSequenceNumber };
  if (explicitHashKey !== undefined) record.explicitHashKey = explicitHashKey;
  if (sequence !== undefined) record.sequence = sequence;
  return [record];
}
