import type { Dice } from './random-json';

/** Something that takes input, and a case of it. A case throws if it does not end as the oracle says. */
export interface FuzzTarget {
  name: string;
  play(dice: Dice): Promise<void>;
}
