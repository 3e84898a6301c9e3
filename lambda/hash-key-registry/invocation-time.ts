import { RESERVED_MS } from '../../lib/core/contract/reserved-time';
import { type Clock, systemClock } from '../../lib/core/kernel/clock';
import { EvenShardsError } from '../../lib/core/kernel/errors';
import { inTime, type TimedInvocation, timeLeft } from '../in-time';

/**
 * The invocation ran out of time, because other processes changed the registry again and again, or because the table
 * did not respond.
 */
class OutOfTimeError extends EvenShardsError {
  constructor(options?: ErrorOptions) {
    const problem = 'the invocation ran out of time, and a change may or may not have been written';
    super('OUT_OF_TIME', `${problem}; read the owners before you repeat the request`, options);
  }
}

/** The remaining time of the present invocation. An execution environment handles one invocation at a time. */
export class InvocationTime {
  /** The clock of a ledger. Its `sleep` never exceeds the remaining time. */
  readonly clock: Clock = {
    ...systemClock,
    sleep: (delayMs) => systemClock.sleep(Math.min(delayMs, this.leftMs)),
  };
  private invocation: TimedInvocation = { getRemainingTimeInMillis: () => Number.POSITIVE_INFINITY };

  begin(invocation: TimedInvocation): void {
    this.invocation = invocation;
  }

  /**
   * Makes a call with the remaining time as its timeout. Throws if no time is left, so that even an endless loop of
   * calls ends.
   *
   * @throws OutOfTimeError if no time is left
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
    return timeLeft(this.invocation, RESERVED_MS.registry);
  }

  private get isOver(): boolean {
    return this.invocation.getRemainingTimeInMillis() <= RESERVED_MS.registry + 1;
  }
}
