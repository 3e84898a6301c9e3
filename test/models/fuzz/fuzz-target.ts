import type { FuzzCase } from './fuzz-case';

/** Something that takes input, and a case of it. A case throws if it does not end as the oracle says. */
export interface FuzzTarget {
  name: string;
  play(fuzzCase: FuzzCase): Promise<void>;
}
