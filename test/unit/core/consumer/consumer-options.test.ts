import { readFileSync } from 'node:fs';
import { MemoryParkingStore } from '../../../../lib/core/consumer';
import { consumerSettings, type OrderedConsumerOptions } from '../../../../lib/core/consumer/consumer-options';

const settingsOf = (options: Partial<OrderedConsumerOptions>) =>
  consumerSettings(() => {}, { parking: new MemoryParkingStore(), ...options });

const documented = [
  ...readFileSync('lib/core/consumer/consumer-options.ts', 'utf8').matchAll(
    /@default (\d+).*\n\s+\*\/\s+(\w+)\?: number/g,
  ),
].map(([, value, name]) => ({ name: name as 'attempts', value: Number(value) }));

test.each(documented)('the default of the option $name is $value, as documented', ({ name, value }) => {
  expect(settingsOf({})[name]).toBe(value);
});

test.each([
  ['attempts', 2, 1, 2.5],
  ['concurrency', 1, 0, 2.5],
  ['maxTries', 1, 0, 2.5],
  ['maxKeys', 1, 0, 2.5],
  ['attemptTimeoutMs', 0.1, 0, Infinity],
  ['maxAgeMs', 0.1, 0],
  ['retryMs', 0.1, 0],
  ['maxMoveWaitMs', 0, -0.1, Infinity],
] as const)(
  'the option %s accepts %d and no smaller value, and rejects other invalid numbers',
  (name, least, ...wrong) => {
    expect(settingsOf({ [name]: least })[name]).toBe(least);
    for (const value of [...wrong, Number.NaN, '5', 5n, true]) {
      expect(() => settingsOf({ [name]: value as number })).toThrow(expect.objectContaining({ field: name }));
    }
  },
);
