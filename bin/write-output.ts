import { writeFileSync } from 'node:fs';
import { InvalidInputError } from './invalid-input-error';

/** Writes `content` to a file, whose path the user passed with a flag. */
export function writeOutput(file: string, content: string): void {
  try {
    writeFileSync(file, content);
  } catch (error) {
    throw new InvalidInputError(`cannot write ${file}: ${(error as Error).message}`);
  }
}
