import { parentPort, workerData } from 'node:worker_threads';
import { errorPayload, type HostAnswer, type HostData, type HostRequest } from './function-host-protocol';
import { type Handler, loadHandler } from './handler-module';

/**
 * The thread in which a function runs. It loads the handler, and then runs one invocation at a time, as a Lambda
 * execution environment does.
 */

const data = workerData as HostData;
const pool = parentPort!;

loadHandler(data.codeDirectory, data.handler).then(serve, (error) =>
  answer({ type: 'failed', error: errorPayload(error) }),
);

function serve(handler: Handler): void {
  pool.on('message', async (request: HostRequest) => {
    try {
      answer({ type: 'result', payload: serialize(await call(handler, request)) });
    } catch (error) {
      answer({ type: 'failed', error: errorPayload(error) });
    }
  });
  answer({ type: 'ready' });
}

function answer(message: HostAnswer): void {
  pool.postMessage(message);
}

/** Runs a handler that returns its result or a promise, or a handler that calls a callback. */
function call(handler: Handler, request: HostRequest): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const callback = (error?: unknown, result?: unknown) => (error ? reject(error) : resolve(result));
    const returned = handler(JSON.parse(request.payload), context(request), callback);
    if (handler.length < 3 || returned !== undefined) resolve(returned);
  });
}

function context({ requestId, qualifier, timeLeftMs }: HostRequest): object {
  const deadline = performance.now() + timeLeftMs;
  return {
    awsRequestId: requestId,
    callbackWaitsForEmptyEventLoop: true,
    functionName: data.functionName,
    functionVersion: '$LATEST',
    getRemainingTimeInMillis: () => Math.max(0, Math.floor(deadline - performance.now())),
    invokedFunctionArn: qualifier === undefined ? data.functionArn : `${data.functionArn}:${qualifier}`,
    logGroupName: process.env.AWS_LAMBDA_LOG_GROUP_NAME,
    logStreamName: process.env.AWS_LAMBDA_LOG_STREAM_NAME,
    memoryLimitInMB: String(data.memoryMb),
  };
}

function serialize(result: unknown): string {
  try {
    return JSON.stringify(result) ?? 'null';
  } catch (cause) {
    throw new Error('Unable to stringify response body', { cause });
  }
}
