import { type FanOutRequest, InvalidArgumentError } from '../../../../../lib/core';
import { configOfTheMoment } from '../../../../../lib/core/sharded-index/query/config-of-the-moment';
import { VirtualClock } from '../../../../../lib/testing/virtual-clock';
import { indexConfig } from '../../../../support/index-config';

/** A source that takes 300 ms, and what it was asked. */
function slowSource() {
  const clock = new VirtualClock();
  const asked: unknown[] = [];
  const config = indexConfig();
  const forReading = async (...request: unknown[]) => {
    asked.push(request);
    await clock.sleep(300);
    return config;
  };
  return { clock, asked, config, source: { initial: indexConfig(), forReading } };
}

test.each<[FanOutRequest, unknown]>([
  [{ value: 'new' }, ['new']],
  [{ values: ['new', { N: '7.0' }] }, ['new', '7']],
])(
  'the source of %j is asked for its values, within its deadline, of which the rest is left',
  async (request, values) => {
    const { clock, asked, config, source } = slowSource();
    const options = { clock, deadlineMs: 1_000 };
    await clock.runUntil(clock.sleep(5_000));
    const read = await clock.runUntil(configOfTheMoment(source, request, options));
    expect(asked).toEqual([[1_000, values]]);
    expect(read).toEqual({ config, left: { clock, deadlineMs: 700 } });
  },
);

test('a read of a whole index names no values to the source, and without a deadline none is left', async () => {
  const { clock, asked, config, source } = slowSource();
  source.initial = indexConfig({ valueAttribute: undefined });
  const read = await clock.runUntil(configOfTheMoment(source, {}, { clock }));
  expect(asked).toEqual([[undefined, undefined]]);
  expect(read).toEqual({ config, left: { clock } });
});

test('a request that is none is refused before the source is asked', async () => {
  const { asked, source } = slowSource();
  await expect(configOfTheMoment(source, { value: 'new', limit: 0 }, {})).rejects.toThrow(InvalidArgumentError);
  expect(asked).toEqual([]);
});
