import { Semaphore } from '../../../../lib/core/kernel/semaphore';

test('a semaphore – more callers than permits – callers begin in order, as permits are released', async () => {
  const semaphore = new Semaphore(1);
  const begun: string[] = [];
  const begin = async (names: string) => {
    for (const name of names) semaphore.acquire(() => begun.push(name));
    await Promise.resolve();
    return begun.join('');
  };
  expect(await begin('a')).toBe('a');
  semaphore.release();
  expect(await begin('bcd')).toBe('ab');
  semaphore.release();
  expect(await begin('')).toBe('abc');
});
