import { type FanOutRequest, fanOutQuery, InvalidArgumentError, ShardsUnavailableError } from '../../../../../lib/core';
import { VirtualClock } from '../../../../../lib/testing/virtual-clock';
import { indexConfig } from '../../../../support/index-config';

/** A query of a source that takes 300 ms, and of an index that never answers. */
function slowQuery(request: FanOutRequest, initial = indexConfig()) {
  const clock = new VirtualClock();
  const asked: unknown[] = [];
  const forReading = async (...moment: unknown[]) => {
    asked.push(moment);
    await clock.sleep(300);
    return initial;
  };
  const silent = { query: () => new Promise<never>(() => {}) };
  const page = fanOutQuery(silent, { initial, forReading }, request, { clock, deadlineMs: 1_000 });
  return { clock, asked, page };
}

test.each<[FanOutRequest, unknown]>([
  [{ value: 'new' }, ['new']],
  [{ values: ['new', { N: '7.0' }] }, ['new', '7']],
])('fanOutQuery – %j of a source – asks for its values, and ends at its own deadline', async (request, values) => {
  const { clock, asked, page } = slowQuery(request);
  await expect(clock.runUntil(page)).rejects.toThrow(ShardsUnavailableError);
  expect(asked).toEqual([[1_000, values]]);
  expect(clock.now()).toBe(1_000);
});

test('fanOutQuery – a source of a whole index – asks for all counts', async () => {
  const { clock, asked, page } = slowQuery({}, indexConfig({ valueAttribute: undefined }));
  await expect(clock.runUntil(page)).rejects.toThrow(ShardsUnavailableError);
  expect(asked).toEqual([[1_000, undefined]]);
});

test('fanOutQuery – an invalid request – rejects it before it asks the source', async () => {
  const { asked, page } = slowQuery({ value: 'new', limit: 0 });
  await expect(page).rejects.toThrow(InvalidArgumentError);
  expect(asked).toEqual([]);
});
