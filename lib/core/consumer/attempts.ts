import { backoffMs } from '../foundation/backoff';
import type { ConsumerSettings, RecordContext } from './consumer-options';
import { deaggregate, type UserRecord } from './deaggregate';
import { type Once, onceFor, saysDone } from './once';
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

/** Attempts whose handlers go on though nobody waits for them any more, by their keys. */
export class UnendedAttempts {
  private readonly ends = new Map<string, Promise<unknown>>();

  /** When the last one of the key ends; undefined if there is none. */
  of(partitionKey: string): Promise<unknown> | undefined {
    return this.ends.get(partitionKey);
  }

  add(partitionKey: string, end: Promise<unknown>): void {
    this.ends.set(partitionKey, end);
    void end.then(() => {
      if (this.ends.get(partitionKey) === end) this.ends.delete(partitionKey);
    });
  }
}

/** For how long handlers were at work. */
export interface HandlersWork {
  busyMs: number;
}

/** A timer may fire somewhat too early. */
const SHORTEST_WATCH_MS = 1;

/** An attempt that its handler works at. */
class Running {
  /** Why its handler is no longer waited for, unless it ends at once. */
  lateError?: AttemptTimeoutError;
  private controller?: AbortController;
  private isAborted = false;

  constructor(
    readonly deadlineMs: number,
    readonly end: (outcome: Outcome) => void,
    /** Notes that its handler goes on. */
    private readonly leave: () => void,
  ) {}

  get isOver(): boolean {
    return this.isAborted;
  }

  /** Made when a handler asks for it: a controller for each record costs more than all else that a record costs. */
  get signal(): AbortSignal {
    this.controller ??= new AbortController();
    if (this.isAborted) this.controller.abort();
    return this.controller.signal;
  }

  abort(): void {
    this.isAborted = true;
    this.leave();
    this.controller?.abort();
  }
}

/** Attempts at records, a bounded number at once. Close them in the end. */
export class Attempts {
  /** In the order in which they began, in which the time of each is over. */
  private readonly running = new Set<Running>();
  private cancelWatch?: () => void;

  constructor(
    private readonly settings: ConsumerSettings,
    private readonly unended: UnendedAttempts,
    private readonly slots: Slots,
    private readonly time: WorkTime,
  ) {
    time.signal.addEventListener('abort', this.stopAll);
  }

  /** Nothing is attempted from now on. */
  close(): void {
    this.time.signal.removeEventListener('abort', this.stopAll);
    this.cancelWatch?.();
  }

  /** One attempt. */
  async attempt(record: ParkedRecord, attempt: number, work?: HandlersWork): Promise<Outcome> {
    const waiting = this.slots.take();
    if (waiting !== undefined) await waiting;
    try {
      if (this.time.signal.aborted) return 'unfinished';
      return await this.handle(record, attempt, work);
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

  private handle(record: ParkedRecord, attempt: number, work?: HandlersWork): Promise<Outcome> {
    const { clock } = this.settings;
    const startedAt = clock.now();
    return new Promise((resolve) => {
      const end = (outcome: Outcome): void => {
        this.running.delete(running);
        if (work !== undefined) work.busyMs += clock.now() - startedAt;
        resolve(outcome);
      };
      const running: Running = new Running(startedAt + this.time.attemptTimeoutMs, end, () =>
        this.unended.add(record.partitionKey, call),
      );
      this.running.add(running);
      this.watch();
      const call = this.callBehind(this.unended.of(record.partitionKey), record, attempt, running);
      void call.then(running.end);
    });
  }

  /** One timer for all, for the same reason. */
  private watch(): void {
    const { clock } = this.settings;
    const [first] = this.running;
    if (first === undefined || this.cancelWatch !== undefined) return;
    this.cancelWatch = clock.schedule(
      () => {
        this.cancelWatch = undefined;
        for (const running of this.running) {
          if (running.deadlineMs > clock.now()) break;
          void this.endLate(running);
        }
        this.watch();
      },
      Math.max(SHORTEST_WATCH_MS, first.deadlineMs - clock.now()),
    );
  }

  private async endLate(running: Running): Promise<void> {
    this.running.delete(running);
    const error = new AttemptTimeoutError(this.time.attemptTimeoutMs);
    running.lateError = error;
    running.abort();
    await this.settings.clock.sleep(GRACE_MS);
    running.end({ error, hasEnded: false });
  }

  /** An attempt of the invocation before, or of a retry, may go on: it could take effect behind this one. */
  private async callBehind(
    before: Promise<unknown> | undefined,
    record: ParkedRecord,
    attempt: number,
    running: Running,
  ): Promise<Outcome> {
    if (before !== undefined) await before;
    return running.isOver ? 'unfinished' : this.call(record, attempt, running);
  }

  private async call(record: ParkedRecord, attempt: number, running: Running): Promise<Outcome> {
    const { handle, parking } = this.settings;
    let once: Once | undefined;
    const context: RecordContext = {
      attempt,
      get signal() {
        return running.signal;
      },
      get once() {
        once ??= onceFor(parking, record.partitionKey, record.places[0]!);
        return once;
      },
    };
    try {
      for (const userRecord of userRecordsOf(record)) await handle(userRecord, context);
      return 'done';
    } catch (error) {
      return saysDone(error) ? 'done' : { error: running.lateError ?? error, hasEnded: true };
    }
  }

  private readonly stopAll = (): void => {
    for (const running of this.running) {
      running.abort();
      running.end('unfinished');
    }
  };
}

/** The record as its handler sees it. One that could not be taken apart when it arrived says so again, or can be now. */
function userRecordsOf({ partitionKey, explicitHashKey, data, subSequenceNumber, sequence, isCorrupt }: ParkedRecord) {
  if (isCorrupt) return deaggregate({ partitionKey, data });
  const record: UserRecord = { partitionKey, data, subSequenceNumber };
  if (explicitHashKey !== undefined) record.explicitHashKey = explicitHashKey;
  if (sequence !== undefined) record.sequence = sequence;
  return [record];
}
