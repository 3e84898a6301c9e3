import { InvalidArgumentError } from '../lib/core/errors';

/** An event that is not what the function's contract says. */
export class InvalidEventError extends InvalidArgumentError {
  constructor(field: string, value: unknown, allowed: string) {
    super(field, value, allowed, 'INVALID_EVENT');
  }
}
