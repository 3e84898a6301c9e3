import { type Clock, systemClock } from '../../lib/core/kernel/clock';
import { EvenShardsError } from '../../lib/core/kernel/errors';
import { inTime, type TimedInvocation, timeLeft } from '../in-time';

/** This long before the end, no more calls are made, so that the function can answer why. */
const LAST_CALL_MS = 500;

/**
 * The invocation ran out of time, because other processes change the registry all the time, or because the table does not
 * answer.
 */
class OutOfTimeError extends EvenShardsError {
  constructor(options?: ErrorOptions) {
    const problem = 'the time of the invocation is up, and whether a change was written is not known';
    super('OUT_OF_TIME', `${problem}; read the owners before you repeat it`, options);
  }
}

/** The time of the present invocation. An instance of a function handles one invocation at a time. */
export class InvocationTime {
  /** The clock of a ledger. It never waits beyond the time of the invocation. */
  readonly clock: Clock = {
    ...systemClock,
    sleep: (delayMs) => systemClock.sleep(Math.min(delayMs, this.leftMs)),
  };
  private invocation: TimedInvocation = { getRemainingTimeInMillis: () => Number.POSITIVE_INFINITY };

  begin(invocation: TimedInvocation): void {
    this.invocation = invocation;
  }

  /**
   * Makes a call that ends with the time of the invocation, and makes none after that time. So even a loop of calls without
   * end comes to an end.
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
