import { isText } from '../kernel/checks';
import { exactNumber, plainDecimal } from '../kernel/decimal';

/** A number of the SDK's document client that JavaScript cannot represent exactly, so the client holds it as text. */
interface NumberText {
  value: string;
  toAttributeValue(): object;
}

function isNumberObject(value: unknown): value is NumberText {
  const { value: text, toAttributeValue }: Partial<NumberText> = Object(value);
  return typeof text === 'string' && typeof toAttributeValue === 'function';
}

/** The digits of a number, a bigint or a number object of the SDK. Undefined for any other value. */
export function numberText(value: unknown): string | undefined {
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number') return Number.isFinite(value) ? plainDecimal(String(value)) : undefined;
  return isNumberObject(value) ? plainDecimal(value.value) : undefined;
}

/**
 * Converts a value of an item to its form in a key. A number that JavaScript cannot represent exactly becomes a text of its
 * digits. Undefined if the value cannot be part of an index key.
 */
export function keyValue(value: unknown): string | number | undefined {
  if (isText(value)) return value;
  const text = numberText(value);
  return text === undefined ? undefined : exactNumber(text);
}
