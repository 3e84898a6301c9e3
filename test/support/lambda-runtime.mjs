/**
 * A thread that runs a bundled function. It logs console calls and uncaught errors in both formats of the Node.js
 * runtime of AWS Lambda, so that tests can check that no log contains the data of a caller. Source: `LogPatch.js` and
 * `Errors.js` of aws-lambda-ric 4.
 */
import { createRequire } from 'node:module';
import { format } from 'node:util';
import { parentPort, workerData } from 'node:worker_threads';

let written = [];

for (const stream of [process.stdout, process.stderr]) {
  stream.write = (text) => {
    written.push(String(text));
    return true;
  };
}
for (const level of ['trace', 'debug', 'info', 'log', 'warn', 'error']) {
  console[level] = (...values) => written.push(jsonLine(level, values), textLine(level, values));
}

/** If the call has one value, the runtime writes the value as JSON, with all enumerable properties of each error. */
function jsonLine(level, values) {
  const [message] = values;
  if (values.length > 1) return jsonOfSeveral(level, values);
  try {
    return JSON.stringify({ level, message }, (_, value) =>
      value instanceof Error ? { ...propertiesOf(value), ...value } : value,
    );
  } catch {
    return JSON.stringify({ level, message: format(message) });
  }
}

function jsonOfSeveral(level, values) {
  const error = values.find((value) => value instanceof Error);
  return JSON.stringify({ level, message: format(...values), ...(error && propertiesOf(error)) });
}

function propertiesOf(error) {
  return { errorType: error.constructor.name, errorMessage: error.message, stackTrace: error.stack?.split('\n') };
}

function textLine(level, values) {
  return `${level}\t${format(...values)}`;
}

/** The text format of an uncaught error. */
function uncaughtText(error) {
  return JSON.stringify(error, (_, value) =>
    value instanceof Error
      ? {
          errorType: value.name,
          errorMessage: value.message,
          code: value.code,
          ...value,
          stack: value.stack?.split('\n'),
        }
      : value,
  );
}

function logUncaught(thrown) {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  written.push(jsonLine('error', [error]), uncaughtText(error));
}

Object.assign(process.env, workerData.environment);
const { handler } = createRequire(import.meta.url)(workerData.bundle);

/** The period of a timer. If the timer is late, the machine did not run this thread. */
const BEAT_MS = 20;
let stalledMs = 0;
let beatAt = performance.now();
setInterval(() => {
  const now = performance.now();
  stalledMs += Math.max(0, now - beatAt - BEAT_MS);
  beatAt = now;
}, BEAT_MS).unref();

parentPort.on('message', async ({ payload, timeoutMs, laterMs }) => {
  if (laterMs !== undefined) {
    const { now } = Date;
    Date.now = () => now() + laterMs;
    return;
  }
  written = [];
  stalledMs = 0;
  const deadline = performance.now() + timeoutMs;
  const leftAtEnd = () => deadline + stalledMs + Math.max(0, performance.now() - beatAt - BEAT_MS) - performance.now();
  const context = {
    // As on Lambda, an integer.
    getRemainingTimeInMillis: () => Math.max(0, Math.floor(deadline - performance.now())),
    invokedFunctionArn: 'arn:aws:lambda:us-east-1:000000000000:function:it',
  };
  try {
    const response = JSON.stringify((await handler(JSON.parse(payload), context)) ?? null);
    parentPort.postMessage({ response, log: written.join('\n'), leftMs: leftAtEnd() });
  } catch (error) {
    logUncaught(error);
    const { name = typeof error, message = String(error), code } = Object(error);
    // Each error that the SDK throws has `$metadata` or `$response`.
    const isOfService = '$metadata' in Object(error) || '$response' in Object(error);
    const leftMs = leftAtEnd();
    parentPort.postMessage({ error: { name, message, code, isOfService }, log: written.join('\n'), leftMs });
  }
});
process.on('unhandledRejection', (reason) => {
  logUncaught(reason);
  parentPort.postMessage({
    error: { name: 'UnhandledPromiseRejection', message: String(reason) },
    log: written.join('\n'),
    leftMs: 0,
  });
});
parentPort.postMessage('ready');
