import { VALUES } from '../lib/core/contract/function-environment';
import { InvalidArgumentError } from '../lib/core/kernel/errors';

/**
 * The values that the construct allows the function to read. Undefined if the function may read any value.
 *
 * @param check throws for values that cannot be compared with requests
 * @throws InvalidArgumentError for an invalid variable. The function then does not start, because it could read values
 *   that are not allowed.
 */
export function boundValues<V>(
  variable: string | undefined,
  check: (field: string, values: unknown) => asserts values is V,
): V | undefined {
  if (variable === undefined) return undefined;
  const values = parseJson(variable);
  check(VALUES, values);
  return values;
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new InvalidArgumentError(VALUES, json, 'JSON');
  }
}
