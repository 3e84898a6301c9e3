import { appendFileSync } from 'node:fs';
import { type LocalClients, localClients } from '../../../bin/local/emulators/clients';
import { startDynamoDbEmulator } from '../../../bin/local/emulators/dynamodb-emulator';
import type { Emulator } from '../../../bin/local/emulators/emulator-thread';
import { startKinesisEmulator } from '../../../bin/local/emulators/kinesis-emulator';
import { seededRandom } from '../../../lib/testing/seeded-random';
import { LambdaFunction } from '../../support/lambda-function';
import { randomRuns, randomRunsTimeout } from '../../support/random-runs';
import type { Calls } from './serve';
import { bundleProgram, packageFolder, type Version, VersionWorker } from './version-worker';

/** The versions that run in each phase of a deployment. Each order has a roll-back. */
const ORDERS = {
  'old first': [['old'], ['old', 'new'], ['new'], ['old'], ['new']],
  'new first': [['new'], ['old', 'new'], ['old'], ['new'], ['old']],
} satisfies Record<string, Version[][]>;

/** The counts of a play, for the matrix at the end of the suite. */
export type Counts = Record<string, number>;

/** A play of one order of deployments, with the random numbers of one seed. */
export interface Play<C extends Calls> {
  /** A name that no other play uses, for tables and streams. */
  name: string;
  /** The versions that run in each phase. */
  phases: readonly (readonly Version[])[];
  clients: LocalClients;
  /** How often each event has happened. */
  counts: Counts;
  /** Counts an event. */
  add(event: string, more?: number): void;
  /** Returns a function that counts, for each event of a kind, whether a version continues the work of the other version. */
  exchanges(kind: string): (version: Version) => void;
  random: () => number;
  pick<T>(items: readonly T[]): T;
  /** The worker of a version. The first call starts the process. */
  worker(version: Version): Promise<VersionWorker<C>>;
  /** A bundled function of a version, by its folder in dist/lambda. The first call starts the function. */
  lambda(version: Version, name: string, environment: Readonly<Record<string, string>>): Promise<LambdaFunction>;
  /** Ends the processes and functions of both versions. Call it between phases, because a deployment replaces them. */
  restart(): Promise<void>;
}

interface VersionsOptions {
  /** The scenario, for the name of the test and for the matrix. */
  scenario: string;
  /** The file of the worker's program in this folder, without its extension. Absent if the play only uses functions. */
  program?: string;
  /** How many seeds to play in each order. */
  seeds: number;
  /** The counts that must be greater than 0 in all plays together. */
  expected: readonly string[];
}

/**
 * Plays a scenario in both orders of deployments, with several seeds. A failure names its seed, and `SEED=7 npm run
 * conformance versions` plays only that seed. The nightly run begins at FIRST_SEED.
 */
export function playVersions<C extends Calls>(
  { scenario, program, seeds, expected }: VersionsOptions,
  play: (play: Play<C>) => Promise<void>,
): void {
  const emulators: Emulator[] = [];
  let clients: LocalClients;
  let bundle: string;
  let endpoints: { kinesis: string; dynamodb: string; lambda: string };
  const total: Counts = {};

  beforeAll(async () => {
    emulators.push(...(await Promise.all([startKinesisEmulator(), startDynamoDbEmulator()])));
    const [kinesis, dynamodb] = emulators as [Emulator, Emulator];
    endpoints = { kinesis: kinesis.endpoint, dynamodb: dynamodb.endpoint, lambda: dynamodb.endpoint };
    clients = localClients(endpoints);
    if (program !== undefined) bundle = await bundleProgram(program);
  }, 60_000);
  afterAll(async () => {
    for (const client of Object.values(clients ?? {})) client.destroy();
    await Promise.all(emulators.map((emulator) => emulator.stop()));
  });

  const { SEED, FIRST_SEED = '1' } = process.env;
  const played = Array.from(
    { length: SEED === undefined ? randomRuns(seeds) : 1 },
    (_, index) => +(SEED ?? FIRST_SEED) + index,
  );
  for (const [order, phases] of Object.entries(ORDERS)) {
    test(
      `${scenario} – ${order}, with a roll-back – ${phases.map((versions) => versions.join(' and ')).join(', then ')}`,
      async () => {
        const counts: Counts = {};
        for (const seed of played) {
          await playSeed(order, phases, seed, counts);
        }
        for (const [name, count] of Object.entries(counts)) total[name] = (total[name] ?? 0) + count;
        if (process.env.VERSIONS_MATRIX !== undefined) {
          appendFileSync(process.env.VERSIONS_MATRIX, `${JSON.stringify({ scenario, order, ...counts })}\n`);
        }
      },
      randomRunsTimeout(300_000),
    );
  }

  test(`${scenario} – both orders – contain each event that the scenario needs`, () => {
    if (SEED !== undefined) return;
    const missing = expected.filter((name) => !(total[name]! > 0));
    expect(missing).toEqual([]);
  });

  async function playSeed(
    order: string,
    phases: readonly (readonly Version[])[],
    seed: number,
    counts: Counts,
  ): Promise<void> {
    const add = (event: string, more = 1): void => {
      counts[event] = (counts[event] ?? 0) + more;
    };
    const exchanges = (kind: string) => {
      let previous: Version | undefined;
      return (version: Version): void => {
        if (previous !== undefined && previous !== version) add(`${kind} ${previous} to ${version}`);
        previous = version;
      };
    };
    const workers = new Map<Version, Promise<VersionWorker<C>>>();
    const functions = new Map<string, Promise<LambdaFunction>>();
    const restart = async (): Promise<void> => {
      const running = await Promise.all([...workers.values(), ...functions.values()]);
      workers.clear();
      functions.clear();
      await Promise.all(running.map((each) => each.stop()));
    };
    const worker = (version: Version): Promise<VersionWorker<C>> => {
      const running = workers.get(version) ?? VersionWorker.start<C>(version, bundle, endpoints);
      workers.set(version, running);
      return running;
    };
    const lambda: Play<C>['lambda'] = (version, name, environment) => {
      const key = `${version} ${name}`;
      const folder = packageFolder(version);
      const { kinesis: AWS_ENDPOINT_URL_KINESIS, dynamodb: endpoint } = endpoints;
      const options = {
        name,
        packageFolder: folder,
        endpoint,
        environment: { ...environment, AWS_ENDPOINT_URL_KINESIS },
      };
      const running = functions.get(key) ?? LambdaFunction.start(options);
      functions.set(key, running);
      return running;
    };
    const random = seededRandom(seed);
    const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)]!;
    const name = `${program ?? 'functions'}-${order.replace(' ', '-')}-${seed}`;
    try {
      await play({ name, phases, clients, counts, add, exchanges, random, pick, worker, lambda, restart });
    } catch (error) {
      const how = `SEED=${seed} npm run conformance versions`;
      throw new Error(`seed ${seed}, ${order} (${how}): ${(error as Error).stack}`, { cause: error });
    } finally {
      await restart();
    }
  }
}
