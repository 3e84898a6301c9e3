import { seededRandom } from '../../lib/testing/seeded-random';
import { hasPostgres } from '../postgres/postgres-server';
import { Functions } from './functions';
import type { FuzzTarget } from './fuzz-target';
import { INPUT_TARGETS } from './inputs';
import { KeyspacesTarget } from './keyspaces';
import { OutboxTarget } from './outbox';
import { Dice } from './random-json';

/**
 * Plays seeded cases of hostile input and of misbehaving services: a case ends with a typed error or with the right answer, in
 * bounded time and memory, without a part of it written, and with none of its data in a log.
 */
export class Fuzz {
  /** Cases played, by target. */
  readonly cases: Record<string, number> = {};

  private constructor(
    private readonly parts: readonly { targets: FuzzTarget[]; stop(): Promise<void> }[],
    private readonly targets: readonly FuzzTarget[],
  ) {}

  /** @param only a part of the names of the targets to play */
  static async start(seed: number, only = ''): Promise<Fuzz> {
    const dice = new Dice(seededRandom(seed));
    const parts = await Promise.all([
      Functions.start(dice),
      KeyspacesTarget.start(dice),
      ...(hasPostgres ? [OutboxTarget.start(dice)] : []),
    ]);
    const targets = [...parts.flatMap((part) => part.targets), ...INPUT_TARGETS];
    return new Fuzz(
      parts,
      targets.filter(({ name }) => name.includes(only)),
    );
  }

  /** One case of each target: what failed. The seed and the name of the target say all of it, unless time decides. */
  async play(seed: number): Promise<Error[]> {
    const failures: Error[] = [];
    for (const [number, { name, play }] of this.targets.entries()) {
      try {
        await play(new Dice(seededRandom(seed * 1_000 + number)));
      } catch (cause) {
        failures.push(new Error(`seed ${seed}, ${name}: ${(cause as Error).message}`, { cause }));
      }
      this.cases[name] = (this.cases[name] ?? 0) + 1;
    }
    return failures;
  }

  async stop(): Promise<void> {
    for (const part of this.parts) await part.stop();
  }
}
