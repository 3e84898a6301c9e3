import { EvenShardsError, framesOf } from '../lib/core/kernel/errors';

/** Errors whose messages quote the request or the answer. `error` is the name of an error of a statement of Postgres. */
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

/** What names and codes of errors look like. Any other text of a service may quote data. */
const NAME = /^[A-Za-z.]{1,100}$/;
const CODE = /^[A-Z0-9_]{1,100}$/;

/**
 * A handler whose failures can be logged. Lambda's runtime writes an uncaught error as JSON, with every property, so the
 * error of another library could write data to the log. The caller still gets the message. Errors of this library have a
 * summary that a log may hold. Source: `LogPatch.js` and `Errors.js` of aws-lambda-ric.
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

/** An error whose properties may hold anything: a service decides what is in an error that an SDK makes. */
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

/** The part of an error's message that a log may hold. */
export function loggableMessage(error: AnyError): string {
  if (error instanceof EvenShardsError) return error.summary;
  const { name, message } = error;
  const mayQuote = typeof message !== 'string' || !isText(name, NAME) || QUOTING_ERRORS.includes(name);
  return mayQuote ? 'withheld because it may quote data' : message.slice(0, MAX_MESSAGE_LENGTH);
}

function isText(value: unknown, pattern: RegExp): value is string {
  return typeof value === 'string' && pattern.test(value);
}
