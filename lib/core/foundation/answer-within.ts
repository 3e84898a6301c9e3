import { type Clock, systemClock } from './clock';

/**
 * An answer, unless it comes late: then it is dropped.
 *
 * @throws Error that says so, if there is no answer within so many milliseconds
 */
export async function answerWithin<T>(ms: number, answer: Promise<T>, clock: Clock = systemClock): Promise<T> {
  let cancel = (): void => {};
  const silence = new Promise<never>((_, reject) => {
    cancel = clock.schedule(() => reject(new Error(`no answer within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([answer, silence]);
  } finally {
    cancel();
  }
}
