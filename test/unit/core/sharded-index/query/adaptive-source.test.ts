import { type FanOutRequest, fanOutQuery, InvalidArgumentError, ShardsUnavailableError } from '../../../../../lib/core';
import { VirtualClock } from '../../../../../lib/testing/virtual-clock';
import { indexConfig } from '../../../../support/index-config';

/** A query whose source of counts takes 300 ms, and whose index never responds. */
function slowQuery(request: FanOutRequest, initial = indexConfig()) {
  const clock = new VirtualClock();
  const reads: unknown[] = [];
  const forReading = async (...input: unknown[]) => {
    reads.push(input);
    await clock.sleep(300);
    return initial;
  };
  const silent = { query: () => new Promise<never>(() => {}) };
  const page = fanOutQuery(silent, { initial, forReading }, request, { clock, deadlineMs: 1_000 });
  return { clock, reads, page };
}

test.each<[FanOutRequest, unknown]>([
  [{ value: 'new' }, ['new']],
  [{ values: ['new', { N: '7.0' }] }, ['new', '7']],
])(
  'fanOutQuery – %j with adaptive counts – reads the counts of its values before its own deadline',
  async (request, values) => {
    const { clock, reads, page } = slowQuery(request);
    await expect(clock.runUntil(page)).rejects.toThrow(ShardsUnavailableError);
    expect(reads).toEqual([[1_000, values]]);
    expect(clock.now()).toBe(1_000);
  },
);

test('fanOutQuery – an index of the whole table with adaptive counts – reads all counts', async () => {
  const { clock, reads, page } = slowQuery({}, indexConfig({ valueAttribute: undefined }));
  await expect(clock.runUntil(page)).rejects.toThrow(ShardsUnavailableError);
  expect(reads).toEqual([[1_000, undefined]]);
});

test('fanOutQuery – an invalid request – rejects the request before it reads the counts', async () => {
  const { reads, page } = slowQuery({ value: 'new', limit: 0 });
  await expect(page).rejects.toThrow(InvalidArgumentError);
  expect(reads).toEqual([]);
});
