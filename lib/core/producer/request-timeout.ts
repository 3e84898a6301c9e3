import type { Clock } from '../foundation/clock';
import type { RequestOptions } from './put-records-client';

/** How long a producer waits for an answer, and by which clock. */
export interface RequestTime {
  clock: Clock;
  requestTimeoutMs: number;
}

/** A request was not answered in its time. It may have been applied. It has the name that the SDK's own time-outs have. */
class RequestTimeoutError extends Error {
  override readonly name = 'TimeoutError';

  constructor(timeoutMs: number) {
    super(`no answer within ${timeoutMs} ms`);
  }
}

/** Sends a request, and gives it up when it has had its time: even one whose client never hears of the abort ends then. */
export function inTime<T>(
  { clock, requestTimeoutMs }: RequestTime,
  send: (options: RequestOptions) => Promise<T>,
): Promise<T> {
  const abort = new AbortController();
  return new Promise((resolve, reject) => {
    const cancel = clock.schedule(() => {
      const error = new RequestTimeoutError(requestTimeoutMs);
      // Before the abort: the client's own error for it would not say why.
      reject(error);
      abort.abort(error);
    }, requestTimeoutMs);
    answerOf(send, abort.signal).then(resolve, reject).finally(cancel);
  });
}

/** A client that throws instead of returning a promise fails the request, too. */
async function answerOf<T>(send: (options: RequestOptions) => Promise<T>, abortSignal: AbortSignal): Promise<T> {
  return send({ abortSignal });
}
