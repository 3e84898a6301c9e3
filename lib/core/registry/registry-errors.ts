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

/**
 * A change could not be committed because other processes changed the registry before each attempt. Nothing of that
 * commit was written. Try again later.
 */
export class RegistryBusyError extends EvenShardsError {
  constructor(
    /** How many attempts were made. */
    readonly attempts: number,
  ) {
    super(
      'REGISTRY_BUSY',
      `the change was not written because others changed the registry before each of ${attempts} attempts`,
    );
  }
}

/**
 * It is not known whether a change was committed: the store did not confirm it, and the head no longer says who made the
 * commit in question, because many others followed. Read the owners before you repeat the change.
 */
export class UncertainCommitError extends EvenShardsError {
  constructor() {
    super('UNCERTAIN_COMMIT', 'whether the change was written is not known; read the owners before you repeat it');
  }
}

/** A method of a registry's store failed with something that is no `Error`, which is the cause. */
export class RegistryStoreError extends EvenShardsError {
  constructor(operation: string, cause: unknown) {
    super('REGISTRY_STORE_FAILED', `${operation} of the store failed, and did not say with which error`, { cause });
  }
}

/** The stored registry is not one that a ledger has written. Something else has changed it, or a store is faulty. */
export class CorruptRegistryError extends EvenShardsError {
  constructor(
    /** The part that is not as a ledger writes it, such as `the history in its head`. */
    readonly part: string,
  ) {
    super('CORRUPT_REGISTRY', `the stored registry is damaged: ${part} is not what a ledger writes`);
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
