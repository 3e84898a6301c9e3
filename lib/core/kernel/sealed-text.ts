import { createHash } from 'node:crypto';

/**
 * The length of the checksum, in bytes. The checksum is so long that an altered text cannot have the right checksum by chance.
 * docs/decisions explains why the checksum needs no secret.
 */
const CHECKSUM_BYTES = 16;

/**
 * A text that a caller keeps and passes back, such as a cursor. The text contains a value, and a checksum of the value and of
 * `belongsTo`. For a cursor, `belongsTo` is the query.
 */
export function sealedText(belongsTo: unknown, value: unknown): string {
  const payload = JSON.stringify(value);
  return Buffer.concat([checksum(belongsTo, payload), Buffer.from(payload)]).toString('base64url');
}

/**
 * The value of a sealed text. Undefined if the text was altered, was made with another `belongsTo`, or if `read` rejects its
 * value. The checksum has no secret, so a caller can make a valid text with a value of any shape.
 *
 * @param read parses the value; returns undefined, or throws, if the value has another shape
 */
export function unsealedValue<V>(
  belongsTo: unknown,
  text: unknown,
  read: (value: unknown) => V | undefined,
): V | undefined {
  if (typeof text !== 'string') return undefined;
  const bytes = Buffer.from(text, 'base64url');
  const payload = bytes.subarray(CHECKSUM_BYTES).toString();
  const isIntact =
    bytes.toString('base64url') === text && bytes.subarray(0, CHECKSUM_BYTES).equals(checksum(belongsTo, payload));
  if (!isIntact) return undefined;
  try {
    return read(JSON.parse(payload));
  } catch {
    return undefined;
  }
}

/** Whether a value is an array of numbers of at least 0, such as bytes or shard numbers. */
export function areCounts(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((each) => Number.isFinite(each) && each >= 0);
}

/** A checksum of a text and of the value that the text belongs to. It shows whether another program wrote or altered the text. */
export function checksum(belongsTo: unknown, payload: string): Buffer {
  const text = JSON.stringify([belongsTo, payload]);
  return createHash('sha256').update(text).digest().subarray(0, CHECKSUM_BYTES);
}
