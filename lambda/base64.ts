import { InvalidEventError } from './invalid-event-error';

/**
 * The pattern does not match groups of four characters, because a repeated group would exhaust the stack for texts of
 * several megabytes. `decodeBase64` checks the length instead.
 */
const ALPHABET = /^[A-Za-z0-9+/]*={0,2}$/;

/** Decodes padded base64 text. Throws for any other value, because `Buffer` would decode a part of it without an error. */
export function decodeBase64(field: string, text: unknown): Buffer {
  if (typeof text !== 'string' || text.length % 4 !== 0 || !ALPHABET.test(text)) {
    throw new InvalidEventError(field, text, 'padded base64');
  }
  return Buffer.from(text, 'base64');
}
