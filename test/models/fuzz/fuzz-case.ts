import { createHash } from 'node:crypto';
import { seededRandom } from '../../../lib/testing/seeded-random';
import { Dice } from '../../support/random-json';

/**
 * What a case plays with: its choices, which follow from the name of its target and a seed alone, and what it has started. So it
 * goes the same way whatever was played before it, unless time decides.
 */
export class FuzzCase {
  readonly dice: Dice;
  private readonly ends: (() => unknown)[] = [];
  private readonly failures: unknown[] = [];
  private step = 'starting';

  constructor(
    readonly target: string,
    readonly seed: number,
  ) {
    this.dice = this.diceFor('');
  }

  /** How to play this case again, and nothing else. */
  get command(): string {
    return `npm run soak fuzz -- --only '${this.target}' --seed ${this.seed}`;
  }

  /** What the case is doing: all that is known of one that hangs. */
  get doing(): string {
    return this.step;
  }

  begins(step: string): void {
    this.step = step.slice(0, 1_000);
  }

  /** Choices of somebody else, whose order does not depend on those of the case. */
  diceFor(whom: string): Dice {
    const digest = createHash('md5').update(`${this.seed} ${this.target} ${whom}`).digest();
    return new Dice(seededRandom(digest.readInt32BE()));
  }

  /** Has something ended when the case ends, or is given up. */
  with<T>(thing: T, end: (thing: T) => unknown): T {
    this.ends.push(() => end(thing));
    return thing;
  }

  /** Something that the case has started has failed beside it, and nobody waits for it. */
  fails(error: unknown): void {
    this.failures.push(error);
  }

  /** The last that was started ends first, and each ends though another does not. */
  async end(): Promise<void> {
    const { failures } = this;
    for (const end of this.ends.splice(0).reverse()) {
      try {
        await end();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, `beside the case: ${failures.join(', ')}`);
  }
}
