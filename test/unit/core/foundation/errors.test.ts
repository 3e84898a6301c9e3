import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, Aws, CfnParameter, Lazy, Stack, Token } from 'aws-cdk-lib';
import fc from 'fast-check';
import { InvalidEventError } from '../../../../lambda/invalid-event-error';
import * as core from '../../../../lib/core';
import { EvenShardsError, InvalidArgumentError } from '../../../../lib/core';
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

describe('what an error says of a value that only the deployment knows', () => {
  const said = (value: unknown) => new InvalidArgumentError('count', value, 'a number').problem;

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
