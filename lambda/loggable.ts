import { EvenShardsError, framesOf } from '../lib/core/foundation/errors';

/** Errors whose messages quote the request or the answer that they are about; `error` is that of a statement of Postgres. */
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

/**
 * A handler whose failures can be logged. Lambda's runtime writes an uncaught error as JSON, with every property, so the
 * error of another library could take data to the log. The caller still gets the message. Errors of this library know
 * themselves what a log may hold.
 * Source: `LogPatch.js` and `Errors.js` of aws-lambda-ric.
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

function withoutData(error: Error & { code?: unknown; $metadata?: unknown }): object {
  const { name, code, $metadata } = error;
  return { errorType: name, code, errorMessage: loggableMessage(error), stackTrace: framesOf(error), $metadata };
}

/** What a log may hold of an error's message. */
export function loggableMessage(error: Error): string {
  if (error instanceof EvenShardsError) return error.summary;
  const { name, message } = error;
  return QUOTING_ERRORS.includes(name) ? 'withheld because it may quote data' : message.slice(0, MAX_MESSAGE_LENGTH);
}
