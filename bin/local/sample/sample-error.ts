import { EvenShardsError } from '../../../lib/core/foundation/errors';

/** The system did not do what the sample expects of it. */
export class SampleFailedError extends EvenShardsError {
  constructor(what: string) {
    super('SAMPLE_FAILED', `the sample failed: ${what}`);
  }
}

/** An input that the sample cannot run. Nothing has been written. */
export class InvalidInputError extends EvenShardsError {
  constructor(what: string) {
    super('INVALID_INPUT', what);
  }
}
