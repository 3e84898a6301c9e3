import { type AllowedValues, typedText } from '../../lib/core/contract/allowed-values';
import { plainDecimal } from '../../lib/core/kernel/decimal';
import { isNumberText } from '../../lib/core/sharded-index/config/check-attribute-value';
import type { FanOutRequest } from '../../lib/core/sharded-index/query/fan-out-request';
import { checkEachValue, ValueNotAllowedError } from '../value-not-allowed-error';

/**
 * Checks that a request reads only values that the construct allows the function to read. A request without a value is
 * rejected too, because it would read the whole table.
 *
 * @throws ValueNotAllowedError for any other value
 */
export function checkValues(allowed: AllowedValues | undefined, request: FanOutRequest): void {
  if (allowed === undefined) return;
  const texts = new Set(allowed.map(typedText));
  checkEachValue(request, (field, given) => {
    const text = textOf(given);
    if (text === undefined || !texts.has(text)) throw new ValueNotAllowedError(field, given);
  });
}

/** @returns the value as text with its type, or undefined if it cannot be a value of an index */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return typedText(value);
  if (typeof value === 'number') return Number.isFinite(value) ? typedText(value) : undefined;
  const { N, ...others }: { N?: unknown } = Object(value);
  return isNumberText(N) && Object.keys(others).length === 0 ? `N${plainDecimal(N)}` : undefined;
}
