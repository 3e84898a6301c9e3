import { checkWhole, isRecord } from '../kernel/checks';
import { InvalidArgumentError } from '../kernel/errors';

/** The order of the items over all shards. `unordered` reads one shard after the other. */
export type FanOutOrder = 'ascending' | 'descending' | 'unordered';

export const MAX_QUERY_VALUES = 100;

const ORDERS: readonly unknown[] = ['ascending', 'descending', 'unordered'] satisfies FanOutOrder[];

/**
 * Checks the fields that requests to all stores have in common.
 *
 * @param fields the fields that a request may have
 * @throws InvalidArgumentError if the request is not an object, or has another field, or its order or its limit is
 *   invalid
 */
export function checkPageRequest(request: unknown, fields: readonly string[]): void {
  if (!isRecord(request)) throw new InvalidArgumentError('request', request, 'an object');
  for (const field of Object.keys(request)) {
    if (!fields.includes(field)) throw new InvalidArgumentError('request', field, `made of ${fields.join(', ')}`);
  }
  const { order, limit } = request;
  if (order !== undefined && !ORDERS.includes(order)) {
    throw new InvalidArgumentError('order', order, `one of ${ORDERS.join(', ')}`);
  }
  if (limit !== undefined) checkWhole('limit', limit, 1);
}

/**
 * Returns the values of a request, from its `value` or its `values`.
 *
 * @param parse checks and returns one value
 * @param textOf returns the text of a value; equal values have equal texts
 * @param Invalid the error class of the store for an invalid value
 */
export function requestedValues<V>(
  { value, values }: { value?: unknown; values?: unknown },
  parse: (field: string, value: unknown) => V,
  textOf: (value: V) => string,
  Invalid: typeof InvalidArgumentError = InvalidArgumentError,
): V[] {
  if (values === undefined) return [parse('value', value)];
  if (value !== undefined) throw new Invalid('value', value, 'absent if values is set');
  if (!Array.isArray(values) || values.length < 1 || values.length > MAX_QUERY_VALUES) {
    throw new Invalid('values', values, `an array of 1 to ${MAX_QUERY_VALUES} different values`);
  }
  const seen = new Set<string>();
  return values.map((each: unknown, index) => {
    const field = `values[${index}]`;
    const parsed = parse(field, each);
    seen.add(textOf(parsed));
    if (seen.size <= index) throw new Invalid(field, each, 'different from the other values');
    return parsed;
  });
}
