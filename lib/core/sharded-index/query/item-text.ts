import { attributeOf } from '../../aws-client/attribute-value';
import { InvalidArgumentError } from '../../kernel/errors';
import { numberText } from '../../sharding/key-value';

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
