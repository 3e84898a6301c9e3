import { VALUES } from '../lib/core/contract/function-environment';
import { InvalidArgumentError } from '../lib/core/kernel/errors';

/**
 * The values that the construct has bound the function to. Undefined if it may read any value.
 *
 * @param check throws unless it can compare requests with the values
 * @throws InvalidArgumentError for an invalid variable. The function then does not start: it must not read other values.
 */
export function boundValues<V>(
  variable: string | undefined,
  check: (field: string, values: unknown) => asserts values is V,
): V | undefined {
  if (variable === undefined) return undefined;
  const values = parsed(variable);
  check(VALUES, values);
  return values;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new InvalidArgumentError(VALUES, json, 'JSON');
  }
}
