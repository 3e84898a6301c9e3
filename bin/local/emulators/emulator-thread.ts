import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { deferred } from '../../../lib/core/kernel/deferred';
import { EvenShardsError } from '../../../lib/core/kernel/errors';
import { threadFile } from '../thread-file';

export interface Emulator {
  readonly endpoint: string;
  /** Rejects with an `EmulatorFailedError` when the emulator ends before it is stopped. Never resolves. */
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
  /**
   * CommonJS code for the thread. `workerData` has the paths of the emulator and of `emulator-guard.ts`. The code must
   * post the port of the emulator.
   */
  readonly source: string;
  readonly entry: string;
  readonly environment: NodeJS.ProcessEnv;
}

/**
 * If an emulator ends, a client can see the broken connection first. This process receives the exit event at most this
 * time later.
 */
const FAILURE_DELAY_MS = 200;

/**
 * Waits for the work, and returns its result. If the emulator fails before the work ends, or soon after the work
 * fails, throws the failure of the emulator.
 */
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
 * Advantages over a child process: a thread always ends with this process, even after SIGKILL. It can listen on a free
 * port and report the port without a race. It also has its own event loop.
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
  // Without this handler, a failure for which no caller waits would end the process.
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
