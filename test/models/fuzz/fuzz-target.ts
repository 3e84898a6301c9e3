import type { FuzzCase } from './fuzz-case';

/** A target with its case. A case throws if its outcome differs from the oracle. */
export interface FuzzTarget {
  name: string;
  play(fuzzCase: FuzzCase): Promise<void>;
}
