import { randomBytes } from 'node:crypto';
import { errorPayload, type HostAnswer, type HostRequest } from './function-host-protocol';
import { handlerCall, rejectCallbackHandler } from './handler-call';
import { type Handler, loadHandler, runtimeError } from './handler-module';
import { onlyLocalHosts } from './only-local-hosts';
import { runtimeVersion } from './runtime-packages';

/**
 * The process in which a function runs, as in an execution environment of Lambda. It loads the handler, and then runs
 * one invocation at a time. Like Lambda's runtime, it reads its configuration from environment variables.
 */

const { _HANDLER, AWS_EXECUTION_ENV, LAMBDA_TASK_ROOT } = process.env;
const VERSION = runtimeVersion(AWS_EXECUTION_ENV);
const call = handlerCall(VERSION);

// The host ends if the local run ends without stopping the host.
process.on('disconnect', () => process.exit());
// Ctrl-C in a terminal sends this signal to each process. The local run then stops the host.
process.on('SIGINT', () => {});

let atEmptyEventLoop: (() => void) | undefined;
if (VERSION < 24) {
  process.on('beforeExit', () => atEmptyEventLoop?.());
  process.on('uncaughtException', (error) => failAndExit(error, 129));
  process.on('unhandledRejection', (reason) =>
    failAndExit(runtimeError('UnhandledPromiseRejection', String(reason)), 128),
  );
}
onlyLocalHosts(process.argv.splice(2).join(), (service, problem) =>
  process.send!({ type: 'notEmulated', service, problem }),
);
Object.assign(globalThis, {
  awslambda: {
    streamifyResponse() {
      throw new Error('response streaming (awslambda.streamifyResponse) is not emulated in a local run');
    },
  },
});

loadHandler(LAMBDA_TASK_ROOT!, _HANDLER!)
  .then((handler) => {
    rejectCallbackHandler(handler, VERSION);
    process.on('message', (request: HostRequest) => void serve(handler, request));
    answer({ type: 'ready' });
  })
  .catch((error) => answer({ type: 'failed', error: errorPayload(error) }));

async function serve(handler: Handler, request: HostRequest): Promise<void> {
  // During an invocation, only the function keeps the event loop busy.
  process.channel!.unref();
  // The X-Ray SDK needs this variable. With `Sampled=0`, it sends no traces.
  process.env._X_AMZN_TRACE_ID = traceId();
  try {
    const result = await call(handler, JSON.parse(request.payload), context(request), (act) => {
      atEmptyEventLoop = act;
    });
    answer({ type: 'result', payload: serialize(result) });
  } catch (error) {
    answer({ type: 'failed', error: errorPayload(error) });
  }
}

/** Source: the AWS X-Ray developer guide, "Tracing header". */
function traceId(): string {
  const seconds = Math.floor(Date.now() / 1_000).toString(16);
  const hex = (bytes: number) => randomBytes(bytes).toString('hex');
  return `Root=1-${seconds}-${hex(12)};Parent=${hex(8)};Sampled=0`;
}

function answer(message: HostAnswer, then: () => void = () => {}): void {
  atEmptyEventLoop = undefined;
  process.channel?.ref();
  process.send!(message, then);
}

function failAndExit(error: unknown, code: number): void {
  answer({ type: 'failed', error: errorPayload(error), exits: true }, () => process.exit(code));
}

function context({ requestId, invokedFunctionArn, deadlineMs }: HostRequest): object {
  return {
    awsRequestId: requestId,
    functionName: process.env.AWS_LAMBDA_FUNCTION_NAME,
    functionVersion: process.env.AWS_LAMBDA_FUNCTION_VERSION,
    getRemainingTimeInMillis: () => deadlineMs - Date.now(),
    invokedFunctionArn,
    logGroupName: process.env.AWS_LAMBDA_LOG_GROUP_NAME,
    logStreamName: process.env.AWS_LAMBDA_LOG_STREAM_NAME,
    memoryLimitInMB: process.env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE,
  };
}

function serialize(result: unknown): string {
  try {
    return JSON.stringify(result) ?? 'null';
  } catch (cause) {
    throw new Error('Unable to stringify response body', { cause });
  }
}
