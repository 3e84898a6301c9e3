import { InvalidArgumentError } from '../lib/core/kernel/errors';

/** A request contains a value that is not in the `values` of the function. The function has read nothing. */
export class ValueNotAllowedError extends InvalidArgumentError {
  static override readonly code = 'VALUE_NOT_ALLOWED';

  constructor(field: string, value: unknown) {
    super(field, value, 'one of the values that this function may read');
  }
}

/**
 * Checks the value of a request, or each of its values. A request without a value is checked too, because it would read the
 * whole table.
 */
export function checkEachValue(
  { value, values }: { readonly value?: unknown; readonly values?: unknown },
  check: (field: string, given: unknown) => void,
): void {
  if (value !== undefined || values === undefined) check('value', value);
  if (values === undefined) return;
  if (!Array.isArray(values)) throw new ValueNotAllowedError('values', values);
  values.forEach((each, index) => {
    check(`values[${index}]`, each);
  });
}
