import type { FuzzCase } from './fuzz-case';

/** A part of the library to fuzz. `play` runs one case, and throws if its outcome differs from the oracle. */
export interface FuzzTarget {
  name: string;
  play(fuzzCase: FuzzCase): Promise<void>;
}
