import { EvenShardsError, framesOf } from '../lib/core/kernel/errors';

/**
 * The names of errors whose messages quote the request or the response. `error` is the name of the error that a failed
 * Postgres statement causes.
 */
const QUOTING_ERRORS = [
  'InvalidArgumentException',
  'InvalidParameterValueException',
  'NoHostAvailableError',
  'ResponseError',
  'SerializationException',
  'SyntaxError',
  'ValidationException',
  'error',
];

const MAX_MESSAGE_LENGTH = 1_000;

/** The patterns of error names and error codes. Any other text of a service may quote data. */
const NAME = /^[A-Za-z.]{1,100}$/;
const CODE = /^[A-Z0-9_]{1,100}$/;

/**
 * Returns a handler whose errors are safe to log. Lambda's runtime logs all properties of an uncaught error as JSON, so
 * an error of another library could write data to the log. Errors of this library have a summary without data. The
 * caller still receives the full message. Source: `LogPatch.js` and `Errors.js` of aws-lambda-ric.
 */
export function loggable<E, C, R>(handler: (event: E, context: C) => Promise<R>): typeof handler {
  return async (event, context) => {
    try {
      return await handler(event, context);
    } catch (error) {
      if (error instanceof Error && !(error instanceof EvenShardsError)) {
        Object.defineProperty(error, 'toJSON', { value: () => withoutData(error) });
      }
      throw error;
    }
  };
}

/** An error with properties of unknown types, because a service decides the content of an SDK error. */
type AnyError = { [name in 'name' | 'message' | 'code' | '$metadata']?: unknown } & Pick<Error, 'stack'>;

function withoutData(error: AnyError): object {
  const { name, message, code, $metadata } = error;
  const { httpStatusCode, requestId, attempts }: Record<string, unknown> = Object($metadata);
  return {
    errorType: isText(name, NAME) ? name : 'Error',
    code: typeof code === 'number' || isText(code, CODE) ? code : undefined,
    errorMessage: loggableMessage(error),
    stackTrace: typeof message === 'string' ? framesOf({ message, stack: error.stack ?? '' }) : [],
    $metadata: $metadata && { httpStatusCode, requestId, attempts },
  };
}

/** The message of an error without data, for the log. */
export function loggableMessage(error: AnyError): string {
  if (error instanceof EvenShardsError) return error.summary;
  const { name, message } = error;
  const mayQuote = typeof message !== 'string' || !isText(name, NAME) || QUOTING_ERRORS.includes(name);
  return mayQuote ? 'withheld because it may quote data' : message.slice(0, MAX_MESSAGE_LENGTH);
}

function isText(value: unknown, pattern: RegExp): value is string {
  return typeof value === 'string' && pattern.test(value);
}
