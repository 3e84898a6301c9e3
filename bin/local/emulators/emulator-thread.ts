import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { deferred } from '../../../lib/core/kernel/deferred';
import { EvenShardsError } from '../../../lib/core/kernel/errors';
import { threadFile } from '../thread-file';

/** A running emulator. */
export interface Emulator {
  readonly endpoint: string;
  /** Rejects with an `EmulatorFailedError` when the emulator ends by itself; never resolves. */
  readonly failure: Promise<never>;
  stop(): Promise<void>;
}

/** An emulator that did not start, or that ended before it was stopped. */
export class EmulatorFailedError extends EvenShardsError {
  constructor(emulator: string, what: string, lastOutput: string) {
    super('EMULATOR_FAILED', `${emulator} ${what}${lastOutput === '' ? '' : `: ${lastOutput}`}`);
  }
}

interface EmulatorProgram {
  readonly name: string;
  /** CommonJS source. It finds the files of the emulator and of `emulator-guard.ts` in `workerData`, and posts the port. */
  readonly source: string;
  readonly entry: string;
  readonly environment: NodeJS.ProcessEnv;
}

/** How much earlier than the end of an emulator the broken connection may be noticed that the end has caused. */
const FAILURE_DELAY_MS = 200;

/** The result of the work, or the failure of an emulator if that comes first or explains why the work failed. */
export async function unlessFailed<T>(work: Promise<T>, failure: Promise<never>): Promise<T> {
  try {
    return await Promise.race([work, failure]);
  } catch (error) {
    await Promise.race([failure, sleep(FAILURE_DELAY_MS)]);
    throw error;
  }
}

const START_LIMIT_MS = 30_000;
const LAST_OUTPUT_LENGTH = 500;

/**
 * Starts an emulator in a thread of this process.
 *
 * A thread rather than a child process: it has its own event loop all the same, nothing is left running however this
 * process ends (SIGKILL included), and the emulator's port is taken and told in one step, without a race.
 */
export async function startEmulator({ name, source, entry, environment }: EmulatorProgram): Promise<Emulator> {
  const worker = new Worker(source, {
    eval: true,
    workerData: { entry, guard: threadFile('emulators/emulator-guard') },
    env: environment,
    execArgv: [],
    stdout: true,
    stderr: true,
  });
  const lastOutput = collectLastOutput(worker);
  let stopping = false;
  const stop = async (): Promise<void> => {
    stopping = true;
    await worker.terminate();
  };
  const { promise: failure, reject } = deferred<never>();
  const fail = (what: string) => stopping || reject(new EmulatorFailedError(name, what, lastOutput()));
  worker.once('error', (error) => fail(`failed with ${error.message}`));
  worker.once('exit', (code) => fail(`ended with exit code ${code}`));
  // Callers that wait for the failure see it. If nobody waits, it must not end the process.
  failure.catch(() => {});
  try {
    const [port] = await Promise.race([
      once(worker, 'message', { signal: AbortSignal.timeout(START_LIMIT_MS) }),
      failure,
    ]);
    return { endpoint: `http://127.0.0.1:${port}`, failure, stop };
  } catch (error) {
    await stop();
    throw error instanceof EvenShardsError
      ? error
      : new EmulatorFailedError(name, `was not ready after ${START_LIMIT_MS / 1000} seconds`, lastOutput());
  }
}

function collectLastOutput(worker: Worker): () => string {
  let output = '';
  for (const stream of [worker.stdout, worker.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output = (output + chunk).slice(-LAST_OUTPUT_LENGTH);
    });
  }
  return () => output.trim();
}
