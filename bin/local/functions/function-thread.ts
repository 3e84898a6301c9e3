import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import { Worker } from 'node:worker_threads';
import { deferred } from '../../../lib/core/kernel/deferred';
import type { LocalFunction } from '../assembly/planned-function';
import { threadFile } from '../thread-file';
import {
  errorPayload,
  type FunctionErrorPayload,
  type HostAnswer,
  type HostData,
  type HostRequest,
} from './function-host-protocol';

/** The outcome of an invocation as the Invoke API reports it. */
export interface InvocationResult {
  /** The result of the handler or its error, as JSON. */
  readonly payload: string;
  readonly functionError?: 'Unhandled';
}

/** Receives each line that a function writes to stdout or stderr. */
export type LogSink = (functionPath: string, line: string) => void;

/** The maximum response size of a synchronous invocation, in bytes. */
const MAX_RESPONSE_BYTES = 6_291_556;
const LOAD_LIMIT_MS = 10_000;

/**
 * An instance of a function: a thread that serves one invocation at a time, until it fails, times out or is stopped.
 */
export class FunctionThread {
  private readonly worker: Worker;
  private readonly loaded: Promise<HostAnswer>;
  private settle: (answer: HostAnswer) => void = () => {};
  private ended = false;

  constructor(
    private readonly definition: LocalFunction,
    environment: NodeJS.ProcessEnv,
    log?: LogSink,
  ) {
    this.worker = startWorker(definition, environment);
    this.worker.on('message', (answer: HostAnswer) => this.settle(answer));
    this.worker.once('error', (error) => this.end(errorPayload(error)));
    this.worker.once('exit', (code) => this.end(runtimeExited(code)));
    for (const stream of [this.worker.stdout, this.worker.stderr]) {
      if (log === undefined) stream.resume();
      else createInterface({ input: stream }).on('line', (line) => log(definition.path, line));
    }
    this.loaded = this.nextAnswer(randomUUID(), LOAD_LIMIT_MS);
  }

  /** Whether the instance can serve a further invocation. */
  get alive(): boolean {
    return !this.ended;
  }

  async invoke(payload: string, qualifier?: string): Promise<InvocationResult> {
    const loaded = await this.loaded;
    if (loaded.type === 'failed') {
      await this.stop();
      return failed(loaded.error);
    }
    const requestId = randomUUID();
    const milliseconds = this.definition.timeoutSeconds * 1000;
    const answer = this.nextAnswer(requestId, milliseconds);
    this.worker.postMessage({ requestId, payload, qualifier, timeLeftMs: milliseconds } satisfies HostRequest);
    return invocationResult(await answer);
  }

  async stop(): Promise<void> {
    this.ended = true;
    await this.worker.terminate();
  }

  private async nextAnswer(requestId: string, limitMs: number): Promise<HostAnswer> {
    const { promise, resolve } = deferred<HostAnswer>();
    this.settle = resolve;
    const timer = setTimeout(() => {
      resolve({ type: 'failed', error: timedOut(requestId, limitMs) });
      void this.stop();
    }, limitMs);
    return promise.finally(() => clearTimeout(timer));
  }

  private end(error: FunctionErrorPayload): void {
    this.ended = true;
    this.settle({ type: 'failed', error });
  }
}

function startWorker(definition: LocalFunction, environment: NodeJS.ProcessEnv): Worker {
  const { codeDirectory, handler, name, arn, memoryMb } = definition;
  return new Worker(threadFile('functions/function-host'), {
    workerData: { codeDirectory, handler, functionName: name, functionArn: arn, memoryMb } satisfies HostData,
    env: environment,
    // Older versions of Node.js print a warning for a feature of node:vm that loads the handler. The warning is not
    // about the function.
    execArgv: ['--disable-warning=ExperimentalWarning'],
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    stdout: true,
    stderr: true,
  });
}

function invocationResult(answer: HostAnswer): InvocationResult {
  if (answer.type !== 'result') return failed(answer.type === 'failed' ? answer.error : errorPayload(answer.type));
  if (Buffer.byteLength(answer.payload) <= MAX_RESPONSE_BYTES) return { payload: answer.payload };
  return failed({
    errorType: 'Function.ResponseSizeTooLarge',
    errorMessage: `Response payload size exceeded maximum allowed payload size (${MAX_RESPONSE_BYTES} bytes).`,
  });
}

function failed(error: FunctionErrorPayload): InvocationResult {
  return { payload: JSON.stringify(error), functionError: 'Unhandled' };
}

function timedOut(requestId: string, limitMs: number): FunctionErrorPayload {
  const seconds = (limitMs / 1000).toFixed(2);
  return {
    errorType: 'Sandbox.Timedout',
    errorMessage: `RequestId: ${requestId} Error: Task timed out after ${seconds} seconds`,
  };
}

function runtimeExited(code: number): FunctionErrorPayload {
  return { errorType: 'Runtime.ExitError', errorMessage: `Error: Runtime exited with error: exit status ${code}` };
}
