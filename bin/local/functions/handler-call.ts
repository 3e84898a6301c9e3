import { type Handler, runtimeError } from './handler-module';

/**
 * Calls a handler. Resolves to its response.
 *
 * @param atEmptyEventLoop sets what to do when the event loop has nothing left to do before the response
 */
type HandlerCall = (
  handler: Handler,
  event: unknown,
  context: object,
  atEmptyEventLoop: (act: () => void) => void,
) => Promise<unknown>;

/** The first version of Lambda's Node.js runtime without callbacks. */
const FIRST_WITHOUT_CALLBACKS = 24;

/**
 * How a version of the runtime calls handlers. Source: aws-lambda-nodejs-runtime-interface-client, release 3 for
 * runtimes before nodejs24.x, and release 4 for later runtimes.
 */
export function handlerCall(version: number): HandlerCall {
  return version < FIRST_WITHOUT_CALLBACKS
    ? callWithCallback
    : async (handler, event, context) => handler(event, context);
}

/**
 * Rejects a handler that declares a callback, if the version of the runtime has no callbacks. The number of parameters
 * decides, so the runtime also rejects an async handler.
 */
export function rejectCallbackHandler(handler: Handler, version: number): void {
  if (version < FIRST_WITHOUT_CALLBACKS || handler.length < 3) return;
  throw runtimeError(
    'CallbackHandlerDeprecated',
    'ERROR: AWS Lambda has removed support for callback-based function handlers starting with Node.js 24. ' +
      'You need to modify this function to use a supported handler signature to use Node.js 24 or later. ' +
      'For more information see https://docs.aws.amazon.com/lambda/latest/dg/nodejs-handler.html.',
  );
}

/**
 * Calls a handler that can respond by a promise, by its callback, or by `context.done`, `succeed` and `fail`. The
 * runtime ignores a returned value that is not a promise. Only the first response counts.
 */
const callWithCallback: HandlerCall = (handler, event, context, atEmptyEventLoop) =>
  new Promise((resolve, reject) => {
    let hasResponse = false;
    const first =
      (respond: (error?: unknown, result?: unknown) => void) =>
      (error?: unknown, result?: unknown): void => {
        if (!hasResponse) respond(error, result);
        hasResponse = true;
      };
    const done = first((error, result) => (isAbsent(error) ? resolve(result) : reject(error)));
    const fail = (error?: unknown) => done(isAbsent(error) ? 'handled' : error);
    const succeed = (result: unknown) => done(null, result);
    const whole = Object.assign(context, { callbackWaitsForEmptyEventLoop: true, done, fail, succeed });
    const callback = first((error, result) => {
      if (!isAbsent(error)) reject(error);
      else if (whole.callbackWaitsForEmptyEventLoop) atEmptyEventLoop(() => resolve(result));
      else resolve(result);
    });
    atEmptyEventLoop(() => (handler.constructor.name === 'AsyncFunction' ? reject(neverSettled()) : resolve(null)));
    try {
      const returned = handler(event, whole, callback);
      if (typeof Object(returned).then === 'function') (returned as Promise<unknown>).then(succeed, fail);
    } catch (error) {
      callback(error);
    }
  });

function isAbsent(error: unknown): boolean {
  return error === undefined || error === null;
}

function neverSettled(): Error {
  return runtimeError(
    'NodeJsExit',
    'The Lambda runtime client detected an unexpected Node.js exit code. This is most commonly caused by a Promise ' +
      'that was never settled. For more information, see https://nodejs.org/docs/latest/api/process.html#exit-codes',
  );
}
