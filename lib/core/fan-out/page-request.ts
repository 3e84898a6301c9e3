import { checkWhole, isRecord } from '../kernel/checks';
import { InvalidArgumentError } from '../kernel/errors';

/** The order of the items over all shards. `unordered` goes through one shard after the other. */
export type FanOutOrder = 'ascending' | 'descending' | 'unordered';

/** The most values of one query. */
export const MAX_QUERY_VALUES = 100;

const ORDERS: readonly unknown[] = ['ascending', 'descending', 'unordered'] satisfies FanOutOrder[];

/**
 * Checks what requests for a page have in common, whatever the store.
 *
 * @param fields the fields that a request may have
 * @throws InvalidArgumentError unless the request is an object of these fields, with an order and a limit that a page can have
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
 * The values that a request reads: its `value`, or its `values`.
 *
 * @param parse checks and returns one value
 * @param textOf the text of a value, by which equal values are found
 * @param Invalid the error of the store for a wrong value
 */
export function requestedValues<V>(
  { value, values }: { value?: unknown; values?: unknown },
  parse: (field: string, value: unknown) => V,
  textOf: (value: V) => string,
  Invalid: typeof InvalidArgumentError = InvalidArgumentError,
): V[] {
  if (values === undefined) return [parse('value', value)];
  if (value !== undefined) throw new Invalid('value', value, 'absent because values names the values to read');
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
