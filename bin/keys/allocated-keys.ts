import { readFileSync } from 'node:fs';
import type { WeightedHashKey } from '../../lib/core/registry/balanced-key-allocator';
import { parseHashKey } from '../../lib/core/stream-format/hash-key-space';
import { InvalidInputError } from '../invalid-input-error';

const STANDARD_INPUT = 0;

/**
 * Reads the keys of a file: one key a line, optionally followed by the weight of its owner.
 *
 * @throws InvalidInputError with the file and the line of an invalid key
 */
export function allocatedKeys(file: string): WeightedHashKey[] {
  return linesOf(file).flatMap((line, index) => {
    const text = line.trim();
    if (text === '') return [];
    const [digits = '', weight = '1', ...others] = text.split(/[\s,]+/);
    const hashKey = parseHashKey(digits);
    if (hashKey === undefined || others.length > 0 || !(Number(weight) > 0)) {
      const allowed = 'a hash key in decimal digits, optionally followed by the weight of its owner';
      throw new InvalidInputError(`${file}, line ${index + 1} must be ${allowed}, got ${JSON.stringify(text)}`);
    }
    return [{ hashKey, weight: Number(weight) }];
  });
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file === '-' ? STANDARD_INPUT : file, 'utf8').split('\n');
  } catch (error) {
    throw new InvalidInputError(`cannot read allocated keys from ${file}: ${(error as Error).message}`);
  }
}
