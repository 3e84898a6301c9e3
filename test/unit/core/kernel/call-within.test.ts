import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { callWithin } from '../../../../lib/core/kernel/call-within';
import { VirtualClock } from '../../../../lib/testing/virtual-clock';

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}

/**
 * A call that ends only when it is aborted. Garbage collection could remove the call, because no other object refers to
 * it.
 */
const unanswered = ({ abortSignal }: { abortSignal: AbortSignal }) =>
  new Promise<never>((_, reject) => {
    abortSignal.addEventListener('abort', () => reject(abortSignal.reason));
  });

describe('callWithin', () => {
  test('ends a call at its time limit, even if garbage was collected during the call', async () => {
    const calls = Array.from({ length: 20 }, () =>
      callWithin({ ms: 100, signal: new AbortController().signal }, unanswered).catch((error) => error.name),
    );
    for (let times = 0; times < 3; times++) {
      await sleep(10);
      collectGarbage();
    }
    expect(new Set(await Promise.all(calls))).toEqual(new Set(['TimeoutError']));
  });

  test('ends a call at its time limit and aborts the call, even if the client ignores the abort signal', async () => {
    const clock = new VirtualClock();
    let signal: AbortSignal | undefined;
    const call = callWithin({ ms: 100, clock }, ({ abortSignal }) => {
      signal = abortSignal;
      return new Promise<never>(() => {});
    });
    await expect(clock.runUntil(call)).rejects.toThrow('no response within 100 ms');
    expect(clock.now()).toBe(100);
    expect(signal?.aborted).toBe(true);
  });

  test('ends a call when the caller aborts, before or during the call', async () => {
    const caller = new AbortController();
    const call = callWithin({ ms: 10_000, signal: caller.signal }, unanswered);
    caller.abort(new Error('given up'));
    await expect(call).rejects.toThrow('given up');
    let wasAborted: boolean | undefined;
    await callWithin({ ms: 10_000, signal: caller.signal }, async ({ abortSignal }) => {
      wasAborted = abortSignal.aborted;
    });
    expect(wasAborted).toBe(true);
  });

  test.each([
    ['a call in progress', 4_000, 7_000],
    ['a later call', 0, 3_000],
  ])(
    'the signal in the option `shortened` aborts – the time limit of %s becomes shorter',
    async (_, abortsAtMs, endsAtMs) => {
      const clock = new VirtualClock();
      const abort = new AbortController();
      if (abortsAtMs === 0) abort.abort();
      else clock.schedule(() => abort.abort(), abortsAtMs);
      const call = callWithin({ ms: 30_000, clock, shortened: { signal: abort.signal, ms: 3_000 } }, unanswered);
      await expect(clock.runUntil(call)).rejects.toThrow('no response within 3000 ms');
      expect(clock.now()).toBe(endsAtMs);
    },
  );
});
