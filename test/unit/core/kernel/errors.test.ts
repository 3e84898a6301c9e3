import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, Aws, CfnParameter, Lazy, Stack, Token } from 'aws-cdk-lib';
import fc from 'fast-check';
import { InvalidEventError } from '../../../../lambda/invalid-event-error';
import * as core from '../../../../lib/core';
import { EvenShardsError, InvalidArgumentError, ShardsUnavailableError } from '../../../../lib/core';
import { randomRuns } from '../../../support/random-runs';

const errorClasses = ([...Object.values(core), InvalidEventError] as unknown[]).filter(
  (exported): exported is typeof InvalidArgumentError =>
    typeof exported === 'function' && exported.prototype instanceof InvalidArgumentError,
);

describe('error codes', () => {
  test('the message of an error contains its code, because functions in other languages receive only the message', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Z_]+$/), fc.string(), (code, problem) => {
        const error = new EvenShardsError(code, problem);
        expect(error).toMatchObject({ code, problem, message: `[${code}] ${problem}` });
      }),
      { numRuns: randomRuns(100) },
    );
  });

  test.each(errorClasses.map((each) => [each.name, each] as const))('%s has its own code', (_, ErrorClass) => {
    const error = new ErrorClass('limit', 0, 'at least 1');
    expect(error.code).not.toBe('INVALID_ARGUMENT');
    expect(error.message).toBe(`[${error.code}] limit must be at least 1, got 0`);
    expect(error.problem).toBe('limit must be at least 1, got 0');
  });

  test('no error class overrides the code that its messages contain', () => {
    const sources = ['lib', 'lambda', 'bin'].flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts'))
        .map((name) => join(folder, name)),
    );
    const overrides = sources.filter((file) => /^ +override readonly code\b/m.test(readFileSync(file, 'utf8')));
    expect(overrides).toEqual([]);
  });
});

const problemFor = (value: unknown) => new InvalidArgumentError('count', value, 'a number').problem;

describe('the wrong value in an error message', () => {
  const loop: Record<string, unknown> = {};
  loop.again = loop;

  test.each<[string, unknown, string]>([
    ['a string of 100 characters is complete', 'x'.repeat(100), `"${'x'.repeat(100)}"`],
    [
      'a longer string is truncated and followed by its length',
      'x'.repeat(101),
      `"${'x'.repeat(99)}… (101 characters)`,
    ],
    ['arrays and objects are complete', [1, 'a', { b: [null, true] }], '[1,"a",{"b":[null,true]}]'],
    ['a long array is truncated', new Array(51).fill(1), `[${'1,'.repeat(49)}1…`],
    ['the longest possible array is truncated', new Array(2 ** 32 - 1), `[${'undefined,'.repeat(9)}undefined…`],
    ['an object that contains itself is truncated', loop, `${'{"again":'.repeat(12).slice(0, 100)}…`],
    ['a date is in ISO format', new Date(0), '"1970-01-01T00:00:00.000Z"'],
    ['any other object is described by its class', new Map([[1, 2]]), 'a Map'],
    ['an integer of 51 digits is complete', -(10n ** 50n), `-1${'0'.repeat(50)}`],
    ['a longer integer is described as "a long number"', -(10n ** 50n) - 1n, 'a long number'],
  ])('%s', (_, value, text) => {
    expect(problemFor(value)).toBe(`count must be a number, got ${text}`);
  });

  test('the message about missing shards names 20 shards and counts the others', () => {
    const ofShards = (count: number) => new ShardsUnavailableError([...new Array(count).keys()]).problem;
    expect(ofShards(20)).toMatch(/ 18, 19$/);
    expect(ofShards(21)).toMatch(/ 18, 19 and 1 more$/);
  });
});

describe('a token in an error message', () => {
  test.each<[string, unknown, string]>([
    ['a lazy number', Lazy.number({ produce: () => 1 }), 'a token'],
    ['a lazy string', Aws.REGION, '"a token"'],
    ['a lazy list', Lazy.list({ produce: () => ['a'] }), '["a token"]'],
    ['a lazy number in an object', { failed: Token.asNumber({ Ref: 'Failed' }) }, '{"failed":a token}'],
    ['a lazy number in a string', `${Token.asNumber({ Ref: 'Seconds' })} s`, '"a token s"'],
    ['a parameter', new CfnParameter(new Stack(new App()), 'Count', { type: 'Number' }).valueAsNumber, 'a token'],
  ])('%s is shown as a token', (_, value, text) => {
    expect(problemFor(value)).toBe(`count must be a number, got ${text}`);
  });

  test('a large number that is no token is shown as it is', () => {
    expect(problemFor(-1.9e289)).toBe('count must be a number, got -1.9e+289');
  });
});
