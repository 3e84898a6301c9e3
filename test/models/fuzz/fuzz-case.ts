import { createHash } from 'node:crypto';
import { seededRandom } from '../../../lib/testing/seeded-random';
import { Dice } from '../../support/random-json';

/**
 * The random choices and the resources of a case. The choices depend only on the name of the target and the seed, so a case is
 * repeatable unless it depends on time.
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

  /** The command that runs only this case. */
  get command(): string {
    return `npm run soak fuzz -- --only '${this.target}' --seed ${this.seed}`;
  }

  /** The current action of the case, for the report of a hanging case. */
  get doing(): string {
    return this.step;
  }

  begins(step: string): void {
    this.step = step.slice(0, 1_000);
  }

  /** Returns random choices for one service. They do not depend on how many choices the case has made. */
  diceFor(whom: string): Dice {
    const digest = createHash('md5').update(`${this.seed} ${this.target} ${whom}`).digest();
    return new Dice(seededRandom(digest.readInt32BE()));
  }

  /** Registers a resource that ends with the case. */
  with<T>(thing: T, end: (thing: T) => unknown): T {
    this.ends.push(() => end(thing));
    return thing;
  }

  /** Reports a failure of a resource in an operation whose result no code awaits. */
  fails(error: unknown): void {
    this.failures.push(error);
  }

  /** Ends the resources in reverse order, even if some of them fail to end. */
  async end(): Promise<void> {
    const { failures } = this;
    for (const end of this.ends.splice(0).reverse()) {
      try {
        await end();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, `resources of the case failed: ${failures.join(', ')}`);
  }
}
