import { InvalidArgumentError } from '../lib/core/foundation/errors';

/** An event that is not what the function's contract says. */
export class InvalidEventError extends InvalidArgumentError {
  override readonly code = 'INVALID_EVENT';
}
