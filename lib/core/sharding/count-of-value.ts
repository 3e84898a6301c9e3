import { plainDecimal } from '../kernel/decimal';

/** The text of a value, as a partition key has it. The text of a number is its decimal digits without an exponent. */
export function valueText(value: string | number): string {
  return typeof value === 'number' ? plainDecimal(String(value)) : value;
}

/**
 * The count of a value: its own, or else the default.
 *
 * A number and its digits as a string can have one partition key, so they have one count. Its name may be the digits, or
 * what JavaScript writes for the number: "1e+21".
 */
export function countOfValue<C>(
  { default: others, byValue: counts }: { default: C; byValue?: Record<string, C> | null },
  value: string | number | undefined,
): C {
  if (value === undefined) return others;
  const text = valueText(value);
  // JSON may hold null in place of absent counts.
  const byValue = counts ?? {};
  if (Object.hasOwn(byValue, text)) return byValue[text]!;
  const name = numberName(text);
  return Object.hasOwn(byValue, name) ? byValue[name]! : others;
}

/** The text that JavaScript writes for the number with these digits. Any other text is returned unchanged. */
function numberName(text: string): string {
  const number = Number(text);
  return Number.isFinite(number) && valueText(number) === text ? String(number) : text;
}
