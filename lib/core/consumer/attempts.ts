import { backoffMs } from '../kernel/backoff';
import { SHORTEST_TIMER_MS } from '../kernel/clock';
import { deferred } from '../kernel/deferred';
import { sleepUnlessAborted } from '../kernel/pause';
import type { Semaphore } from '../kernel/semaphore';
import { parseFence } from '../stream-format/fence';
import type { ConsumerSettings, RecordContext } from './consumer-options';
import { deaggregate, type UserRecord } from './deaggregate';
import { moveOfSource } from './fenced-move';
import { AttemptOnce, isDoneError } from './once';
import { mayBePartlyApplied } from './parked-key-changes';
import type { ParkedRecord } from './parking-store';
import type { HandlerCall, ProcessState } from './process-state';
import { positionForHandler, positionInParkedKey, type SequencePosition, sourceOf } from './sequence-position';
import type { WorkTime } from './work-time';

export interface FailedAttempt {
  error: unknown;
  /** Whether no call of the handler for the key is still running, so that another attempt may begin. */
  hasEnded: boolean;
  /** Whether the handler was called. If not, the attempt does not count as a try of the record. */
  wasCalled: boolean;
}

/**
 * The outcome of an attempt. `unfinished` means that the work was stopped before the handler settled, so the outcome of the
 * record is not known.
 */
export type Outcome = 'done' | 'unfinished' | FailedAttempt;

/** The handler did not settle within `attemptTimeoutMs`. */
class AttemptTimeoutError extends Error {
  override readonly name = 'AttemptTimeoutError';

  constructor(ms: number) {
    super(`the handler did not settle within ${Math.round(ms)} ms`);
  }
}

/** An earlier call of the handler for the key has not settled, so the handler was not called. */
class UnsettledCallError extends Error {
  override readonly name = 'UnsettledCallError';

  constructor(ms: number) {
    super(`the handler was not called: an earlier call for this key did not settle within ${Math.round(ms)} ms`);
  }
}

const BACKOFF_BASE_MS = 100;
const BACKOFF_CAP_MS = 2_000;

/** How long a handler may take to settle after its signal aborts. */
const GRACE_MS = 100;

export interface HandlersWork {
  busyMs: number;
}

class Running implements HandlerCall {
  readonly outcome = deferred<Outcome>();
  /** Resolves when the handler has settled, even if it settles after the timeout. */
  handled!: Promise<void>;
  /**
   * Set when the attempt times out. If the handler throws after the timeout, the attempt fails with this error, and not with the
   * error of the handler.
   */
  timeoutError?: Error;
  wasCalled = false;
  startedAt!: number;
  isOver = false;
  hasOutcome = false;
  private controller?: AbortController;

  constructor(
    readonly record: ParkedRecord,
    readonly attempt: number,
    readonly work: HandlersWork | undefined,
  ) {}

  /**
   * Creates the controller only when a handler reads the signal, because creating a controller takes as long as all other work on
   * a record.
   */
  get signal(): AbortSignal {
    this.controller ??= new AbortController();
    if (this.isOver) this.controller.abort();
    return this.controller.signal;
  }

  abort(): void {
    this.isOver = true;
    this.controller?.abort();
  }
}

/** Runs attempts to handle records, with a limited number of attempts in parallel. Call `close` after the last attempt. */
export class Attempts {
  /** The running attempts, in the order in which they began. This is also the order of their timeouts. */
  private readonly running = new Set<Running>();
  private cancelWatch?: () => void;

  constructor(
    private readonly settings: ConsumerSettings,
    private readonly state: ProcessState,
    private readonly slots: Semaphore,
    private readonly time: WorkTime,
  ) {
    time.signal.addEventListener('abort', this.stopAll);
  }

  /** Cancels the timer for timeouts. Do not begin an attempt after this call. */
  close(): void {
    this.time.signal.removeEventListener('abort', this.stopAll);
    this.cancelWatch?.();
  }

  attempt(record: ParkedRecord, attempt: number, work?: HandlersWork): Promise<Outcome> {
    const running = new Running(record, attempt, work);
    this.slots.acquire(() => this.begin(running));
    return running.outcome.promise;
  }

  /** Waits before the next attempt. Returns early if the signal of `time` aborts. */
  async backOff(attempts: number): Promise<void> {
    const { clock, random } = this.settings;
    const ms = backoffMs(attempts, { backoffBaseMs: BACKOFF_BASE_MS, backoffCapMs: BACKOFF_CAP_MS, random });
    await sleepUnlessAborted(ms, clock, this.time.signal);
  }

  private begin(running: Running): void {
    running.startedAt = this.settings.clock.now();
    if (this.time.signal.aborted) this.end(running, 'unfinished');
    else {
      this.running.add(running);
      this.watch();
      running.handled = this.handle(running, this.state.addCall(running));
    }
  }

  /**
   * @param before resolves when the earlier calls end that must not overlap with this call. So the effect of an older attempt
   *   cannot come after the effect of this attempt
   */
  private async handle(running: Running, before: Promise<unknown> | undefined): Promise<void> {
    await before;
    const { record } = running;
    let outcome: Outcome = 'unfinished';
    try {
      if (before !== undefined && this.state.handled.has(record.partitionKey, record.positions)) outcome = 'done';
      else if (!running.isOver) {
        running.wasCalled = true;
        await this.call(running);
        // A handler may also return early because its signal has aborted.
        if (running.timeoutError !== undefined) throw running.timeoutError;
        outcome = 'done';
      }
    } catch (error) {
      outcome = {
        error: mayBePartlyApplied(error) ? error : (running.timeoutError ?? error),
        hasEnded: true,
        wasCalled: true,
      };
    }
    this.end(running, outcome);
    this.state.removeCall(running);
  }

  private call(running: Running): Promise<void> {
    const { record } = running;
    return record.isCorrupt
      ? this.callEach(running)
      : this.handleOne(running, userRecordOf(record), record.positions[0]!);
  }

  /**
   * Tries again to deaggregate a record that was corrupt when it arrived. If `onCorrupt` is now `raw`, the handler gets the
   * record unchanged. Each user record stays under the parked key. It does not move to its own partition key, because later
   * records of that key have not waited for it.
   */
  private async callEach(running: Running): Promise<void> {
    const { record } = running;
    const { parking, onCorrupt } = this.settings;
    const whole = record.positions[0]!;
    const source = sourceOf(whole);
    for (const userRecord of deaggregate(record, { onCorrupt })) {
      if (running.isOver) throw new AttemptTimeoutError(this.time.attemptTimeoutMs);
      const { partitionKey, data } = userRecord;
      const position = positionInParkedKey(record.partitionKey, whole, userRecord);
      const fence = parseFence(data);
      if (fence === undefined) await this.handleOne(running, userRecord, position);
      else {
        await parking.markHandled(record.partitionKey, position);
        if (fence.side === 'end') await parking.endMove(moveOfSource(source, { moveId: fence.moveId, partitionKey }));
      }
    }
  }

  /** Calls the handler. Resolves when the user record has taken effect, now or in an earlier attempt. */
  private async handleOne(running: Running, userRecord: UserRecord, position: SequencePosition): Promise<void> {
    const { handle, parking } = this.settings;
    const { record, attempt } = running;
    let attemptOnce: AttemptOnce | undefined;
    const context: RecordContext = {
      attempt,
      get signal() {
        return running.signal;
      },
      get once() {
        attemptOnce ??= new AttemptOnce(parking, record.partitionKey, position);
        return attemptOnce.once;
      },
      get positions() {
        return [positionForHandler(record.partitionKey, position)];
      },
    };
    try {
      await handle(userRecord, context);
    } catch (error) {
      if (!isDoneError(error, attemptOnce)) throw attemptOnce?.mistake ?? error;
    }
    if (attemptOnce?.mistake !== undefined) throw attemptOnce.mistake;
  }

  private end(running: Running, outcome: Outcome): void {
    if (running.hasOutcome) return;
    running.hasOutcome = true;
    this.running.delete(running);
    if (running.work !== undefined) running.work.busyMs += this.settings.clock.now() - running.startedAt;
    this.slots.release();
    const { partitionKey, positions } = running.record;
    if (outcome === 'done') this.state.handled.add(partitionKey, positions);
    running.outcome.resolve(outcome);
  }

  /** Schedules one timer for all attempts, because a timer for each record would take too much processor time. */
  private watch(): void {
    if (this.cancelWatch !== undefined) return;
    const { clock } = this.settings;
    const { attemptTimeoutMs } = this.time;
    const [first] = this.running;
    if (first === undefined) return;
    this.cancelWatch = clock.schedule(
      () => {
        this.cancelWatch = undefined;
        for (const running of this.running) {
          if (running.startedAt + attemptTimeoutMs > clock.now()) break;
          void this.timeOut(running);
        }
        this.watch();
      },
      Math.max(SHORTEST_TIMER_MS, first.startedAt + attemptTimeoutMs - clock.now()),
    );
  }

  private async timeOut(running: Running): Promise<void> {
    this.running.delete(running);
    const failure = unsettled(running, this.time.attemptTimeoutMs);
    running.timeoutError = failure.error;
    running.abort();
    await this.settings.clock.sleep(GRACE_MS);
    this.end(running, failure);
  }

  private readonly stopAll = (): void => {
    const { longAttemptMs = Number.POSITIVE_INFINITY } = this.time;
    for (const running of this.running) {
      running.abort();
      const ranMs = this.settings.clock.now() - running.startedAt;
      this.end(running, ranMs >= longAttemptMs ? unsettled(running, ranMs) : 'unfinished');
    }
  };
}

/** The failure of an attempt that was stopped after some time, before its handler settled. */
function unsettled({ wasCalled }: Running, ms: number): FailedAttempt & { error: Error } {
  const error = wasCalled ? new AttemptTimeoutError(ms) : new UnsettledCallError(ms);
  return { error, hasEnded: false, wasCalled };
}

function userRecordOf({ partitionKey, explicitHashKey, data, subSequenceNumber, sequence }: ParkedRecord): UserRecord {
  const record: UserRecord = { partitionKey, data, subSequenceNumber };
  if (explicitHashKey !== undefined) record.explicitHashKey = explicitHashKey;
  if (sequence !== undefined) record.sequence = sequence;
  return record;
}
