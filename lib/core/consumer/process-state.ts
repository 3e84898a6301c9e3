import { HandledPositions } from './handled-positions';
import type { ParkedRecord } from './parking-store';

/** A call of the handler that has not settled. It can outlive its attempt, because a handler can ignore its signal. */
export interface HandlerCall {
  readonly record: ParkedRecord;
  /** Whether the attempt is over. */
  readonly isOver: boolean;
  /** Resolves when the handler has settled. */
  readonly handled: Promise<void>;
}

/** The memory of a process that all its batches and replays share. */
export class ProcessState {
  readonly handled: HandledPositions;
  private readonly calls = new Map<string, HandlerCall[]>();
  private readonly parking = new Map<string, Promise<unknown>>();

  constructor(maxKeys: number) {
    this.handled = new HandledPositions(maxKeys);
  }

  /**
   * Adds a call of the handler. Returns a promise for the end of the earlier calls that must not overlap with it: calls for the
   * same record, and calls for the key whose attempt is over. Undefined if there are no such calls.
   */
  addCall(call: HandlerCall): Promise<unknown> | undefined {
    const { partitionKey } = call.record;
    const others = this.calls.get(partitionKey);
    if (others === undefined) {
      this.calls.set(partitionKey, [call]);
      return undefined;
    }
    const earlier = others.filter((other) => other.isOver || isSameRecord(other.record, call.record));
    others.push(call);
    return earlier.length === 0 ? undefined : Promise.all(earlier.map(({ handled }) => handled));
  }

  removeCall(call: HandlerCall): void {
    const { partitionKey } = call.record;
    const others = this.calls.get(partitionKey)!.filter((other) => other !== call);
    if (others.length === 0) this.calls.delete(partitionKey);
    else this.calls.set(partitionKey, others);
  }

  /**
   * Writes records of a key to the parking store. The write can outlive its invocation. Until it ends, a later batch does not
   * handle records of the key.
   */
  park<T>(partitionKey: string, write: () => Promise<T>): Promise<T> {
    const written = write();
    const ended = Promise.allSettled([this.parking.get(partitionKey), written]).then(() => {
      if (this.parking.get(partitionKey) === ended) this.parking.delete(partitionKey);
    });
    this.parking.set(partitionKey, ended);
    return written;
  }

  /** Resolves when the writes of `park` for this key have ended. Undefined if there are no such writes. */
  parkingOf(partitionKey: string): Promise<unknown> | undefined {
    return this.parking.get(partitionKey);
  }
}

function isSameRecord(one: ParkedRecord, other: ParkedRecord): boolean {
  return one.positions.some(({ series, number }) =>
    other.positions.some((position) => position.series === series && position.number === number),
  );
}
