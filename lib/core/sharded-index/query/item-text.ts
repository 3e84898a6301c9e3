import { attributeOf } from '../../aws-client/attribute-value';
import { isText } from '../../kernel/checks';
import { exactNumber, plainDecimal } from '../../kernel/decimal';
import { InvalidArgumentError } from '../../kernel/errors';

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

/**
 * The text that `calculatedShard` hashes: the values of these attributes, joined by "#". A number is written in decimal
 * digits without an exponent, and binary in base64.
 *
 * @throws InvalidArgumentError for a value that cannot be a key
 */
export function itemText(attributes: readonly string[], item: Record<string, unknown>): string {
  return attributes
    .map((attribute) => {
      const value = attributeOf(item, attribute);
      if (typeof value === 'string') return value;
      if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
      const text = numberText(value);
      if (text !== undefined) return text;
      const allowed = 'a string, a finite number or binary because it decides the calculated shard';
      throw new InvalidArgumentError(`item.${attribute}`, value, allowed);
    })
    .join('#');
}
