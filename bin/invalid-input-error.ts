import { EvenShardsError } from '../lib/core/kernel/errors';

/** The result of the system is not the result that the sample expects. */
export class SampleFailedError extends EvenShardsError {
  constructor(what: string, options?: ErrorOptions) {
    super('SAMPLE_FAILED', `the sample failed: ${what}`, options);
  }
}

/** An error of a call that a client of the SDK has made, whatever its cause. */
interface ServiceError extends Error {
  readonly $metadata: { readonly attempts?: number };
}

export function isOfService(error: unknown): error is ServiceError {
  return error instanceof Error && '$metadata' in error;
}

/** A call of the sample failed in all its attempts. */
export class CallFailedError extends SampleFailedError {
  constructor(error: ServiceError) {
    const { attempts = 1 } = error.$metadata;
    const often = attempts === 1 ? 'a call failed' : `a call failed ${attempts} times`;
    super(`${often}: ${error.name}: ${error.message}`, { cause: error });
  }
}

/** The sample cannot run with this input. Nothing was written. */
export class InvalidInputError extends EvenShardsError {
  constructor(what: string) {
    super('INVALID_INPUT', what);
  }
}
