import { writeFileSync } from 'node:fs';
import { InvalidInputError } from './invalid-input-error';

/** Writes a file that a flag names. */
export function writeOutput(file: string, content: string): void {
  try {
    writeFileSync(file, content);
  } catch (error) {
    throw new InvalidInputError(`cannot write ${file}: ${(error as Error).message}`);
  }
}
