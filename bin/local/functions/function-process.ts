import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { deferred } from '../../../lib/core/kernel/deferred';
import type { LocalFunction } from '../assembly/planned-function';
import type { ReportProblem } from '../problem-lines';
import { threadFile } from '../thread-file';
import {
  errorPayload,
  type FunctionErrorPayload,
  type HostAnswer,
  type HostMessage,
  type HostRequest,
} from './function-host-protocol';

/** The outcome of an invocation as the Invoke API reports it. */
export interface InvocationResult {
  /** The result of the handler or its error, as JSON. */
  readonly payload: string;
  readonly functionError?: 'Unhandled';
  /** The variables of the template that a failed function lacks here. Absent if the function has all variables. */
  readonly unset?: readonly string[];
}

/** The error of a failed invocation in one line. */
export function errorText({ payload, unset }: InvocationResult): string {
  const { errorType, errorMessage } = JSON.parse(payload);
  const [firstLine] = String(errorMessage).split('\n');
  return `${errorType}: ${firstLine}${unset === undefined ? '' : `. ${notSet(unset)}`}`;
}

export function notSet(variables: readonly string[]): string {
  return `Not set here: ${variables.join(', ')}`;
}

/** The output of functions for the run. */
export interface FunctionSinks {
  /** Receives each line that a function writes to stdout or stderr. @default the lines are dropped */
  readonly log?: LogSink | undefined;
  /** Receives the problems that the run prints once. @default the problems are dropped */
  readonly reportOnce?: ReportProblem;
}

export type LogSink = (functionPath: string, line: string) => void;

/** The maximum response size of a synchronous invocation, in bytes. */
const MAX_RESPONSE_BYTES = 6_291_556;
const LOAD_LIMIT_MS = 10_000;

/**
 * An execution environment of a function: a process that serves one invocation at a time, until it fails, times out or
 * is stopped.
 */
export class FunctionProcess {
  private readonly child: ChildProcess;
  private readonly closed: Promise<unknown>;
  private readonly loaded: Promise<HostAnswer>;
  private requestId: string = randomUUID();
  /** Takes the next answer. Undefined while no invocation waits for an answer. */
  private settle: ((answer: HostAnswer) => void) | undefined;
  private ended = false;
  /** The error that ended the process between two invocations. */
  private lateError: FunctionErrorPayload | undefined;

  constructor(
    private readonly definition: LocalFunction,
    environment: NodeJS.ProcessEnv,
    private readonly sinks: FunctionSinks = {},
  ) {
    const { log, reportOnce } = sinks;
    this.child = startProcess(definition, environment);
    this.child.on('message', (message: HostMessage) => {
      if (message.type === 'notEmulated')
        return reportOnce?.(`${definition.path} calls ${message.service}`, message.problem);
      if (message.type === 'failed' && message.exits === true) this.end(message.error);
      else this.respond(message);
    });
    this.child.once('error', (error) => this.end(errorPayload(error)));
    // The event `close` comes after the last message and the last line of the process.
    this.child.once('close', (code, signal) => this.end(runtimeExited(this.requestId, code, signal)));
    this.closed = once(this.child, 'close').catch(() => {});
    for (const stream of [this.child.stdout!, this.child.stderr!]) {
      if (log === undefined) stream.resume();
      else createInterface({ input: stream }).on('line', (line) => log(definition.path, line));
    }
    this.loaded = this.nextAnswer(LOAD_LIMIT_MS);
  }

  /** Whether the process can serve a further invocation, or must fail it because of an error after the last response. */
  get alive(): boolean {
    return !this.ended || this.lateError !== undefined;
  }

  /** @param qualifier the version or alias of the invocation, if the caller names one */
  async invoke(payload: string, qualifier?: string): Promise<InvocationResult> {
    const loaded = await this.loaded;
    if (loaded.type === 'failed') {
      await this.stop();
      return failed(withMissingLayers(loaded.error, this.definition));
    }
    const { lateError } = this;
    this.lateError = undefined;
    if (lateError !== undefined) return failed(lateError);
    this.requestId = randomUUID();
    const { arn, timeoutSeconds } = this.definition;
    const milliseconds = timeoutSeconds * 1000;
    const answer = this.nextAnswer(milliseconds);
    const request: HostRequest = {
      requestId: this.requestId,
      payload,
      invokedFunctionArn: qualifier === undefined ? arn : `${arn}:${qualifier}`,
      deadlineMs: Date.now() + milliseconds,
    };
    if (this.child.connected) this.child.send(request, () => {});
    return invocationResult(await answer);
  }

  async stop(): Promise<void> {
    this.ended = true;
    this.child.kill('SIGKILL');
    await this.closed;
  }

  private async nextAnswer(limitMs: number): Promise<HostAnswer> {
    const { promise, resolve } = deferred<HostAnswer>();
    this.settle = resolve;
    const timer = setTimeout(() => {
      this.respond({ type: 'failed', error: timedOut(this.requestId, limitMs) });
      void this.stop();
    }, limitMs);
    return promise.finally(() => clearTimeout(timer));
  }

  private respond(answer: HostAnswer): void {
    const { settle } = this;
    this.settle = undefined;
    settle?.(answer);
  }

  /**
   * On AWS, an environment is frozen between two invocations. An error of a timer or a promise that the function has left behind then
   * ends the next invocation.
   */
  private end(error: FunctionErrorPayload): void {
    if (this.settle === undefined && !this.ended) {
      this.lateError = error;
      const { path } = this.definition;
      const text = `${error.errorType}: ${error.errorMessage.split('\n')[0]}`;
      this.sinks.reportOnce?.(
        `${path} after its response`,
        `${path} fails after its response, and so does its next invocation: ${text}`,
      );
    }
    this.ended = true;
    this.respond({ type: 'failed', error });
  }
}

/** The processes that run. A function in an endless loop would not notice the end of this process. */
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

function startProcess({ path, codeDirectory, memoryMb }: LocalFunction, env: NodeJS.ProcessEnv): ChildProcess {
  const child = fork(threadFile('functions/function-host'), [path], {
    cwd: codeDirectory,
    env,
    execArgv: [
      `--max-old-space-size=${memoryMb}`,
      // Older versions of Node.js print a warning for a feature of node:vm that loads the handler. The warning is not
      // about the function.
      '--disable-warning=ExperimentalWarning',
    ],
    // Sends texts faster than JSON does.
    serialization: 'advanced',
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  running.add(child);
  child.once('close', () => running.delete(child));
  return child;
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

/** Adds the layers that do not run here to the error of a missing module. */
function withMissingLayers(error: FunctionErrorPayload, { missingLayers }: LocalFunction): FunctionErrorPayload {
  if (missingLayers.length === 0 || !/Cannot find (module|package)/.test(error.errorMessage)) return error;
  return { ...error, errorMessage: `${error.errorMessage}\nNot emulated: the layer ${missingLayers.join(', ')}` };
}

function timedOut(requestId: string, limitMs: number): FunctionErrorPayload {
  const seconds = (limitMs / 1000).toFixed(2);
  return {
    errorType: 'Sandbox.Timedout',
    errorMessage: `RequestId: ${requestId} Error: Task timed out after ${seconds} seconds`,
  };
}

/** How Lambda names the signals that end a process because it needs too much memory. */
const SIGNALS: Readonly<Record<string, string>> = {
  SIGABRT: 'aborted',
  SIGKILL: 'killed',
  SIGSEGV: 'segmentation fault',
};

function runtimeExited(requestId: string, code: number | null, signal: string | null): FunctionErrorPayload {
  const status = signal === null ? `exit status ${code}` : `signal: ${SIGNALS[signal] ?? signal}`;
  const reason = code === 0 ? 'Runtime exited without providing a reason' : `Runtime exited with error: ${status}`;
  return { errorType: 'Runtime.ExitError', errorMessage: `RequestId: ${requestId} Error: ${reason}` };
}
