import { plainDecimal } from '../kernel/decimal';

/** The text of a value in a partition key. The text of a number is its decimal digits without an exponent. */
export function valueText(value: string | number): string {
  return typeof value === 'number' ? plainDecimal(String(value)) : value;
}

/**
 * The count of a value: its own count, or the default count.
 *
 * A number and a string with its digits can have the same partition key, so they share one count. The name of this count in
 * `byValue` can be the digits, or the number as JavaScript prints it, such as "1e+21".
 */
export function countOfValue<C>(
  { default: others, byValue: counts }: { default: C; byValue?: Record<string, C> | null },
  value: string | number | undefined,
): C {
  if (value === undefined) return others;
  const text = valueText(value);
  // JSON can contain null instead of absent counts.
  const byValue = counts ?? {};
  if (Object.hasOwn(byValue, text)) return byValue[text]!;
  const name = numberName(text);
  return Object.hasOwn(byValue, name) ? byValue[name]! : others;
}

/** Converts digits to the number as JavaScript prints it. Returns any other text unchanged. */
function numberName(text: string): string {
  const number = Number(text);
  return Number.isFinite(number) && valueText(number) === text ? String(number) : text;
}
