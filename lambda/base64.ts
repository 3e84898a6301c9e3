import { InvalidEventError } from './invalid-event-error';

/**
 * This does not match groups of four characters, because a repeated group would exhaust the stack on megabytes. The length
 * is checked instead.
 */
const ALPHABET = /^[A-Za-z0-9+/]*={0,2}$/;

/** The bytes of padded base64 text; a typed error for anything else, which Buffer would decode in part. */
export function decodeBase64(field: string, text: unknown): Buffer {
  if (typeof text !== 'string' || text.length % 4 !== 0 || !ALPHABET.test(text)) {
    throw new InvalidEventError(field, text, 'padded base64');
  }
  return Buffer.from(text, 'base64');
}
