import type { Clock } from './clock';

/** The caller's signal has stopped the work. */
export class Stopped extends Error {}

/** @throws Stopped if the signal is aborted */
export function throwIfStopped(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new Stopped();
}

/**
 * Waits for `delayMs` milliseconds.
 *
 * @throws Stopped as soon as the signal is aborted
 */
export async function pause(delayMs: number, clock: Clock, signal: AbortSignal | undefined): Promise<void> {
  await sleepUnlessAborted(delayMs, clock, signal);
  throwIfStopped(signal);
}

/** Waits for `delayMs` milliseconds, or until the signal is aborted. */
export async function sleepUnlessAborted(
  delayMs: number,
  clock: Clock,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (delayMs <= 0 || signal?.aborted) return;
  await new Promise<void>((resolve) => {
    const end = (): void => {
      cancel();
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.schedule(end, delayMs);
    signal?.addEventListener('abort', end);
  });
}

/** Waits until the promise settles. Returns false as soon as the signal is aborted. */
export async function settlesUnlessAborted(promise: Promise<unknown>, signal: AbortSignal): Promise<boolean> {
  let end!: () => void;
  const aborted = new Promise<void>((resolve) => {
    end = resolve;
  });
  signal.addEventListener('abort', end);
  if (signal.aborted) end();
  await Promise.race([Promise.allSettled([promise]), aborted]);
  signal.removeEventListener('abort', end);
  return !signal.aborted;
}
