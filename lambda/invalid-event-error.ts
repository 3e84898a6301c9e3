import { InvalidArgumentError } from '../lib/core/kernel/errors';

/** An event does not follow the contract of the function. */
export class InvalidEventError extends InvalidArgumentError {
  static override readonly code = 'INVALID_EVENT';
}
