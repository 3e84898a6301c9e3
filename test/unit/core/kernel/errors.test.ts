import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, Aws, CfnParameter, Lazy, Stack, Token } from 'aws-cdk-lib';
import fc from 'fast-check';
import { InvalidEventError } from '../../../../lambda/invalid-event-error';
import * as core from '../../../../lib/core';
import { EvenShardsError, InvalidArgumentError, ShardsUnavailableError } from '../../../../lib/core';
import { randomRuns } from '../../../support/random-runs';

const errorClasses = [...Object.values(core), InvalidEventError].filter(
  (exported): exported is typeof InvalidArgumentError =>
    typeof exported === 'function' && exported.prototype instanceof InvalidArgumentError,
);

describe('the code of an error', () => {
  test('stands in its message, which is all that reaches another language', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Z_]+$/), fc.string(), (code, problem) => {
        const error = new EvenShardsError(code, problem);
        expect(error).toMatchObject({ code, problem, message: `[${code}] ${problem}` });
      }),
      { numRuns: randomRuns(100) },
    );
  });

  test.each(errorClasses.map((each) => [each.name, each] as const))('%s has one of its own', (_, ErrorClass) => {
    const error = new ErrorClass('limit', 0, 'at least 1');
    expect(error.code).not.toBe('INVALID_ARGUMENT');
    expect(error.message).toBe(`[${error.code}] limit must be at least 1, got 0`);
    expect(error.problem).toBe('limit must be at least 1, got 0');
  });

  test('no class overrides the code that stands in the messages of its errors', () => {
    const sources = ['lib', 'lambda', 'bin'].flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts'))
        .map((name) => join(folder, name)),
    );
    const overrides = sources.filter((file) => /^ +override readonly code\b/m.test(readFileSync(file, 'utf8')));
    expect(overrides).toEqual([]);
  });
});

const said = (value: unknown) => new InvalidArgumentError('count', value, 'a number').problem;

describe('what an error says of a wrong value', () => {
  const loop: Record<string, unknown> = {};
  loop.again = loop;

  test.each<[string, unknown, string]>([
    ['a text of a hundred characters is shown', 'x'.repeat(100), `"${'x'.repeat(100)}"`],
    ['a longer one is cut off, with its length', 'x'.repeat(101), `"${'x'.repeat(99)}… (101 characters)`],
    ['a list and an object are shown', [1, 'a', { b: [null, true] }], '[1,"a",{"b":[null,true]}]'],
    ['a long list is cut off', new Array(51).fill(1), `[${'1,'.repeat(49)}1…`],
    ['the longest list is cut off', new Array(2 ** 32 - 1), `[${'undefined,'.repeat(9)}undefined…`],
    ['an object that holds itself is cut off', loop, `${'{"again":'.repeat(12).slice(0, 100)}…`],
    ['a date is shown', new Date(0), '"1970-01-01T00:00:00.000Z"'],
    ['another object is named by its class', new Map([[1, 2]]), 'a Map'],
    ['a whole number of fifty digits is shown', -(10n ** 50n), `-1${'0'.repeat(50)}`],
    ['a longer one is not', -(10n ** 50n) - 1n, 'a long number'],
  ])('%s', (_, value, text) => {
    expect(said(value)).toBe(`count must be a number, got ${text}`);
  });

  test('of missing shards, it names twenty, and counts the others', () => {
    const ofShards = (count: number) => new ShardsUnavailableError([...new Array(count).keys()]).problem;
    expect(ofShards(20)).toMatch(/ 18, 19$/);
    expect(ofShards(21)).toMatch(/ 18, 19 and 1 more$/);
  });

  test('no more of a large value is read than is shown', () => {
    let read = 0;
    const items = Array.from({ length: 1_000 }, () => ({
      get item() {
        read += 1;
        return read;
      },
    }));
    said(items);
    expect(read).toBeLessThan(50);
  });
});

describe('what an error says of a value that only the deployment knows', () => {
  test.each<[string, unknown, string]>([
    ['a number', Lazy.number({ produce: () => 1 }), 'a token'],
    ['a text', Aws.REGION, '"a token"'],
    ['a list', Lazy.list({ produce: () => ['a'] }), '["a token"]'],
    ['a number in an object', { failed: Token.asNumber({ Ref: 'Failed' }) }, '{"failed":a token}'],
    ['a number in a text', `${Token.asNumber({ Ref: 'Seconds' })} s`, '"a token s"'],
    ['a parameter', new CfnParameter(new Stack(new App()), 'Count', { type: 'Number' }).valueAsNumber, 'a token'],
  ])('%s is a token', (_, value, text) => {
    expect(said(value)).toBe(`count must be a number, got ${text}`);
  });

  test('another large number is itself', () => {
    expect(said(-1.9e289)).toBe('count must be a number, got -1.9e+289');
  });
});
