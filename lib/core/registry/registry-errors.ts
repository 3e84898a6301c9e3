import { EvenShardsError, InvalidArgumentError } from '../foundation/errors';

/** A weight that is no measure of traffic. */
export class InvalidWeightError extends InvalidArgumentError {
  override readonly code = 'INVALID_WEIGHT';
}

/** Every hash key of the space is allocated. */
export class KeySpaceExhaustedError extends EvenShardsError {
  constructor(
    /** How many keys are allocated. */
    readonly size: number,
  ) {
    super('KEY_SPACE_EXHAUSTED', `all ${size} hash keys are allocated`);
  }
}

/** Others kept changing a registry before this change could be written. Nothing was written. */
export class RegistryBusyError extends EvenShardsError {
  constructor(
    /** How often the change was tried. */
    readonly attempts: number,
  ) {
    super('REGISTRY_BUSY', `not written: others changed the registry before each of ${attempts} attempts`);
  }
}

/** A move that was planned for an owner whose key has changed since, or to a key that has an owner by now. */
export class StaleMoveError extends EvenShardsError {
  constructor(
    readonly owner: string,
    reason: string,
  ) {
    super('STALE_MOVE', `${JSON.stringify(owner)} was not moved: ${reason}, plan anew`);
  }
}
