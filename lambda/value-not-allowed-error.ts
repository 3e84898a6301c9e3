import { InvalidArgumentError } from '../lib/core/kernel/errors';

/** A request contains a value that is not in the `values` of the function. The function has read nothing. */
export class ValueNotAllowedError extends InvalidArgumentError {
  static override readonly code = 'VALUE_NOT_ALLOWED';

  constructor(field: string, value: unknown) {
    super(field, value, 'one of the values that this function may read');
  }
}
