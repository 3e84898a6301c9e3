import { FanOutHistory, type FanOutOptions, InvalidArgumentError } from '../../../../lib/core';
import { readPolicy } from '../../../../lib/core/fan-out/read-policy';
import { systemClock } from '../../../../lib/core/kernel/clock';

const history = new FanOutHistory();

test.each<FanOutOptions>([
  { concurrency: 1 },
  { attempts: 1 },
  { backoffBaseMs: 0, backoffCapMs: 0, deadlineMs: 0 },
  { onShardFailure: 'partial' },
  { hedgeBudget: 0 },
  { hedgeBudget: 0.1, history },
  { clock: systemClock, random: () => 0 },
])('a query may have %j', (options) => {
  expect(readPolicy(options)).toMatchObject(options);
});

test('a query that says nothing has 50 requests in flight, makes five attempts, and waits up to 50 ms, then up to a second', () => {
  expect(readPolicy({})).toMatchObject({ concurrency: 50, attempts: 5, backoffBaseMs: 50, backoffCapMs: 1_000 });
});

test.each<[string, unknown, string]>([
  ['concurrency', 0, 'a whole number of at least 1'],
  ['attempts', 1.5, 'a whole number of at least 1'],
  ['backoffBaseMs', Number.NaN, 'a number of milliseconds of at least 0'],
  ['backoffCapMs', -1, 'a number of milliseconds of at least 0'],
  ['deadlineMs', '5', 'a number of milliseconds of at least 0'],
  ['onShardFailure', 'ignore', 'fail or partial'],
  ['clock', { now: () => 0 }, 'a clock with now, schedule, sleep'],
  ['history', {}, 'a FanOutHistory with sizesOf'],
  ['random', 0.5, 'a function'],
  ['hedgeBudget', -0.01, 'a share of the requests, from 0 to 0.1'],
  ['hedgeBudget', 0.11, 'a share of the requests, from 0 to 0.1'],
  ['hedgeBudget', '0.05', 'a share of the requests, from 0 to 0.1'],
])('a query has no %s of %p', (field, value, allowed) => {
  expect(() => readPolicy({ history, [field]: value })).toThrow(InvalidArgumentError);
  expect(() => readPolicy({ history, [field]: value })).toThrow(`${field} must be ${allowed}, got `);
});

test('a query hedges only with a history', () => {
  expect(() => readPolicy({ hedgeBudget: 0.01 })).toThrow(
    'history must be a FanOutHistory if hedgeBudget is greater than 0',
  );
});

test.each([null, undefined, 'fast', 5])('a query does not take %j for its options', (options) => {
  expect(() => readPolicy(options as never)).toThrow('options must be an object, got');
});
