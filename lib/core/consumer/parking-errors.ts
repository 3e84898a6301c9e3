import { EvenShardsError } from '../foundation/errors';

/** What a parking table holds of a key cannot be read: somebody else has written it, or deleted a part of it. */
export class CorruptParkedRecordError extends EvenShardsError {
  /** @param reason what is wrong, in words */
  constructor(reason: string) {
    super('CORRUPT_PARKED_RECORD', `a parked record cannot be read: ${reason}`);
  }
}
