import type { Invocation } from '../../support/lambda-function';
import { CANARY } from '../../support/random-json';

/** The error codes of this library, of the system and of Postgres. */
const CODE = /^([A-Z][A-Z_]+|[0-9A-Z]{5})$/;

/** The time limit of a call. Every call takes much less time, even on a busy machine. */
const MAX_MS = 20_000;

/** Throws unless an invocation ended with a response or a typed error, and its log contains no data of the case. */
export function checkInvocation({ error, log, response }: Invocation, { mayLogService = false } = {}): void {
  if (error !== undefined && !isTyped(error)) {
    throw new Error(`the error has no code: ${error.name}: ${error.message.slice(0, 300)}\n${log.slice(0, 2_000)}`);
  }
  if (!mayLogService && log.includes(CANARY)) throw new Error(`the log contains data of the case: ${around(log)}`);
  if (log.length > 100_000) throw new Error(`the log must have at most 100000 characters, got ${log.length}`);
  if ((error?.message.length ?? 0) > 5_000)
    throw new Error(`the error message must have at most 5000 characters, got ${error!.message.length}`);
  if ((response?.length ?? 0) > 6_291_556)
    throw new Error(`the response must have at most 6291556 characters, got ${response!.length}`);
}

function isTyped({ code, isOfService, name }: NonNullable<Invocation['error']>): boolean {
  return (code !== undefined && CODE.test(code)) || isOfService === true || name === 'AbortError';
}

/** Returns the result of a function of the library, or undefined for a typed error. Rethrows any other error. */
export async function typed<T>(work: () => T | Promise<T>): Promise<T | undefined> {
  const begun = performance.now();
  try {
    return await work();
  } catch (error) {
    const { code, message = String(error) } = Object(error) as Error & { code?: unknown };
    if (typeof code !== 'string' || !CODE.test(code) || message.length > 5_000) throw error;
    return undefined;
  } finally {
    const elapsedMs = performance.now() - begun;
    // biome-ignore lint/correctness/noUnsafeFinally: a slow call fails in any case
    if (elapsedMs > MAX_MS) throw new Error(`the call took ${Math.round(elapsedMs)} ms, more than ${MAX_MS} ms`);
  }
}

function around(log: string): string {
  const at = log.indexOf(CANARY);
  return log.slice(Math.max(0, at - 200), at + 100);
}
