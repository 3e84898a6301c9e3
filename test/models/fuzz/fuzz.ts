import { hasPostgres } from '../../support/postgres/postgres-server';
import { ADAPTIVE_TARGETS } from './adaptive-counts';
import { FUNCTION_TARGETS } from './functions';
import { FuzzCase } from './fuzz-case';
import type { FuzzTarget } from './fuzz-target';
import { INPUT_TARGETS } from './inputs';
import { KEYSPACES_TARGET } from './keyspaces';
import { OutboxTargets } from './outbox';
import { Watchdog } from './watchdog';

/** The failure of a case: its outcome differs from the oracle. */
export class FuzzFailure extends Error {
  constructor({ seed, target, command }: FuzzCase, cause: unknown) {
    super(`seed ${seed}, ${target}: ${(cause as Error)?.message}\nonce more: ${command}`, { cause });
  }
}

interface FuzzOptions {
  /** The name of the only target to run. */
  only?: string | undefined;
  /** Called immediately with each failure. */
  onFailure: (failure: FuzzFailure) => void;
}

/** Cases run in parallel, because they mostly wait for slow or silent services. */
const CASES_AT_ONCE = 4;

/** The time limit of a case. Every case takes much less time, even on a busy machine. */
const MAX_SECONDS = 90;

/**
 * Runs seeded cases with hostile input and misbehaving services. Each case must end with a typed error or the correct result,
 * within limits of time and memory, without partial writes, and without its data in a log.
 */
export class Fuzz {
  /** The number of finished cases of each target. */
  readonly cases: Record<string, number> = {};
  private readonly watchdog = new Watchdog(MAX_SECONDS);

  private constructor(
    private readonly targets: readonly FuzzTarget[],
    private readonly options: FuzzOptions,
    private readonly outbox?: OutboxTargets,
  ) {}

  static async start(options: FuzzOptions): Promise<Fuzz> {
    const outbox = hasPostgres ? new OutboxTargets() : undefined;
    const targets = [
      ...FUNCTION_TARGETS,
      KEYSPACES_TARGET,
      ...ADAPTIVE_TARGETS,
      ...(outbox?.targets ?? []),
      ...INPUT_TARGETS,
    ].filter(({ name }) => options.only === undefined || name === options.only);
    if (targets.length === 0) throw new Error(`no target has the name ${options.only}`);
    return new Fuzz(targets, options, outbox);
  }

  /** Runs one case of each target for each seed. Several cases run in parallel. */
  async play(seeds: Iterable<number>): Promise<void> {
    const cases = casesOf(this.targets, seeds);
    const player = async () => {
      for (const { target, seed } of cases) await this.playCase(target, seed);
    };
    await Promise.all(Array.from({ length: CASES_AT_ONCE }, player));
  }

  async stop(): Promise<void> {
    await this.watchdog.stop();
    await this.outbox?.stop();
  }

  private async playCase({ name, play }: FuzzTarget, seed: number): Promise<void> {
    const fuzzCase = new FuzzCase(name, seed);
    for (const work of [() => play(fuzzCase), () => fuzzCase.end()]) {
      try {
        await this.watchdog.watch(fuzzCase, work());
      } catch (cause) {
        this.options.onFailure(new FuzzFailure(fuzzCase, cause));
      }
    }
    this.cases[name] = (this.cases[name] ?? 0) + 1;
  }
}

/** All workers take their cases from this iterator. */
function* casesOf(
  targets: readonly FuzzTarget[],
  seeds: Iterable<number>,
): Generator<{ target: FuzzTarget; seed: number }> {
  for (const seed of seeds) for (const target of targets) yield { target, seed };
}
