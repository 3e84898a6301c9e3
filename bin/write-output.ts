import { writeFileSync } from 'node:fs';
import { InvalidInputError } from './invalid-input-error';

/** Writes a file to the path in the value of a flag. */
export function writeOutput(file: string, content: string): void {
  try {
    writeFileSync(file, content);
  } catch (error) {
    throw new InvalidInputError(`cannot write ${file}: ${(error as Error).message}`);
  }
}
