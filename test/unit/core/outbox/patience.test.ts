import { Patience } from '../../../../lib/core/outbox/patience';
import { VirtualClock } from '../../../../lib/testing';

const never = new Promise<never>(() => {});

/** What a wait that has begun at 0 ends with, and when. */
async function endOf(change: (patience: Patience) => void): Promise<[message: string, atMs: number]> {
  const clock = new VirtualClock();
  const patience = new Patience(clock, 1_000);
  const failure = patience.for(never).catch((error) => error.message);
  clock.schedule(() => change(patience), 100);
  const end: [string, number] = [await clock.runUntil(failure), clock.now()];
  await clock.runOut();
  // No timer is left.
  expect(clock.now()).toBe(end[1]);
  return end;
}

test('gives up an answer that does not come in time', async () => {
  expect(await endOf(() => {})).toEqual(['Postgres gave no answer within 1000 ms', 1_000]);
});

test('waits for less from now on, also for an answer that it waits for already', async () => {
  expect(await endOf((patience) => patience.atMost(300))).toEqual(['Postgres gave no answer within 300 ms', 400]);
});

test.each([1_000, 5_000])('never waits for longer than before: at most %d ms', async (ms) => {
  expect(await endOf((patience) => patience.atMost(ms))).toEqual(['Postgres gave no answer within 1000 ms', 1_000]);
});

test('leaves no timer behind an answer', async () => {
  const clock = new VirtualClock();
  const patience = new Patience(clock, 1_000);
  expect(await patience.for(Promise.resolve('row'))).toBe('row');
  patience.atMost(300);
  await clock.runOut();
  expect(clock.now()).toBe(0);
});
