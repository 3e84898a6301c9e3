import { type Clock, systemClock } from '../../lib/core/foundation/clock';
import { EvenShardsError } from '../../lib/core/foundation/errors';
import { inTime, type TimedInvocation, timeLeft } from '../in-time';

/** No call is made from here on, so that the function ends with a word on why. */
const LAST_CALL_MS = 500;

/** The invocation has no time left. Others change the registry all the time, or the table does not say what it holds. */
class OutOfTimeError extends EvenShardsError {
  constructor(options?: ErrorOptions) {
    const problem = 'the time of the invocation is up, and whether a change was written is not known';
    super('OUT_OF_TIME', `${problem}; read the owners before you repeat it`, options);
  }
}

/** The time of the invocation that runs: an instance of a function serves one at a time. */
export class InvocationTime {
  /** A ledger waits by it, and never beyond the time. */
  readonly clock: Clock = {
    ...systemClock,
    sleep: (delayMs) => systemClock.sleep(Math.min(delayMs, this.leftMs)),
  };
  private invocation: TimedInvocation = { getRemainingTimeInMillis: () => Number.POSITIVE_INFINITY };

  begin(invocation: TimedInvocation): void {
    this.invocation = invocation;
  }

  /**
   * Ends a call with the time, and makes none behind it: so whatever goes on for ever ends.
   *
   * @throws OutOfTimeError when the time is up
   */
  async within<T>(call: (options: { abortSignal: AbortSignal }) => Promise<T>): Promise<T> {
    if (this.isOver) throw new OutOfTimeError();
    try {
      return await inTime(call, this.leftMs);
    } catch (cause) {
      throw this.isOver ? new OutOfTimeError({ cause }) : cause;
    }
  }

  private get leftMs(): number {
    return timeLeft(this.invocation, LAST_CALL_MS);
  }

  private get isOver(): boolean {
    return this.invocation.getRemainingTimeInMillis() <= LAST_CALL_MS + 1;
  }
}
