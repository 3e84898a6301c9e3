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
  ['maxTries', 3, 2, 3.5],
  ['maxKeys', 1, 0, 2.5],
  ['attemptTimeoutMs', 0.1, 0, Infinity],
  ['maxAgeMs', 30_000, 29_999],
  ['retryMs', 0.1, 0, 900_001, Infinity],
  ['maxMoveWaitMs', 0, -0.1, Infinity],
] as const)(
  'the option %s accepts %d and no smaller value, and rejects other invalid numbers',
  (name, least, ...wrong) => {
    expect(settingsOf({ [name]: least })[name]).toBe(least);
    for (const value of [...wrong, Number.NaN, '5', 5n, true]) {
      expect(() => settingsOf({ [name]: value as number })).toThrow(name);
    }
  },
);

test.each<[Partial<OrderedConsumerOptions>, string]>([
  [{ maxTries: 2 }, 'attempts must be at most maxTries, which is 2, got 3'],
  [{ attempts: 5, maxTries: 4 }, 'attempts must be at most maxTries, which is 4, got 5'],
  [{ maxAgeMs: 10_000 }, 'retryMs must be at most maxAgeMs, which is 10000, got 30000'],
  [
    { retryMs: 1, maxAgeMs: 10_000, attemptTimeoutMs: 20_000 },
    'attemptTimeoutMs must be at most maxAgeMs, which is 10000, got 20000',
  ],
])('the options %j contradict each other, and the error names both options', (options, problem) => {
  expect(() => settingsOf(options)).toThrow(`[INVALID_ARGUMENT] ${problem}`);
});

test.each<[Partial<OrderedConsumerOptions>, Partial<OrderedConsumerOptions>]>([
  [{ attempts: 1_000 }, { maxTries: 1_000 }],
  [{ attempts: 3, maxTries: 3 }, {}],
  [{ maxAgeMs: Infinity, retryMs: 900_000 }, {}],
])('accepts the options %j', (options, settings) => {
  expect(settingsOf(options)).toMatchObject({ ...options, ...settings });
});
