import { describeValue, EvenShardsError, InvalidArgumentError } from '../kernel/errors';

/** A weight is not a number from 1e-9 to 2^53 - 1. */
export class InvalidWeightError extends InvalidArgumentError {
  static override readonly code = 'INVALID_WEIGHT';
}

/** Every hash key of the space, or of a shard that a plan needs, is allocated. */
export class KeySpaceExhaustedError extends EvenShardsError {
  constructor(
    /** How many keys are allocated. */
    readonly size: number,
  ) {
    super('KEY_SPACE_EXHAUSTED', `all ${size} hash keys are allocated`);
  }
}

/** A change was not committed because other processes changed the registry before each attempt. Try again later. */
export class RegistryBusyError extends EvenShardsError {
  constructor(
    /** How many attempts were made. */
    readonly attempts: number,
  ) {
    super(
      'REGISTRY_BUSY',
      `the change was not written because other processes changed the registry before each of ${attempts} attempts`,
    );
  }
}

/**
 * A change may have been committed. The store did not confirm the change. Many commits followed, so the head no longer shows
 * whether the change was committed. Read the owners before you repeat the change.
 */
export class UncertainCommitError extends EvenShardsError {
  constructor() {
    super('UNCERTAIN_COMMIT', 'the change may have been written; read the owners before you repeat it');
  }
}

/** A method of a registry's store threw a value that is not an `Error`. The value is the `cause`. */
export class RegistryStoreError extends EvenShardsError {
  constructor(operation: string, cause: unknown) {
    super('REGISTRY_STORE_FAILED', `${operation} of the store threw a value that is not an Error`, { cause });
  }
}

/** The stored registry does not have the format of a ledger. Another program has changed it, or the store has a bug. */
export class CorruptRegistryError extends EvenShardsError {
  constructor(
    /** The damaged part, such as `the history in its head`. */
    readonly part: string,
  ) {
    super('CORRUPT_REGISTRY', `the stored registry is damaged: ${part} does not have the format that a ledger writes`);
  }
}

/** A planned move cannot be made: the owner's key has changed since the plan, or the new key has an owner now. */
export class StaleMoveError extends EvenShardsError {
  readonly #owner: string;

  constructor(owner: string, reason: string) {
    const outcome = `was not moved because ${reason}; make a new plan`;
    super('STALE_MOVE', `owner ${describeValue(owner)} ${outcome}`, { summary: `an owner ${outcome}` });
    this.#owner = owner;
  }

  /** The name of the owner. */
  get owner(): string {
    return this.#owner;
  }
}
