import { existsSync, readFileSync } from 'node:fs';
import { keys } from '../../../bin/keys';
import { plan } from '../../../bin/plan';
import { simulate } from '../../../bin/simulate';
import * as core from '../../../lib/core';
import { printed } from '../../support/command';

const page = readFileSync('docs/guides/documents.md', 'utf8');
const code = [...page.matchAll(/`([^`]+)`/g)].map(([, text]) => text!);

test('the guide documents.md names only tests that exist', () => {
  const tests = code.filter((text) => text.startsWith('test/'));
  expect(tests.length).toBeGreaterThan(12);
  expect(tests.filter((path) => !existsSync(path))).toEqual([]);
});

const corrections = page
  .split('\n## Corrections\n')[1]!
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .slice(2);

test.each(corrections)('the guide documents.md names a test for each correction: %.60s', (line) => {
  expect(line.split(' | ').at(-1)).toMatch(/^`test\/[^`]+` \|$/);
});

test('the guide documents.md names only functions that the package exports', () => {
  const functions = code.filter((text) => /^[a-z]\w*[a-z]$/i.test(text) && /^[a-z]/.test(text) && text in core);
  expect(functions).toEqual(
    expect.arrayContaining(['hashPartitionKey', 'uniformRanges', 'fanOutQuery', 'shardColumns', 'reshardRows']),
  );
  const called = code.filter((text) =>
    /^(hash|uniform|fanOut|shards?For|suffix|select|shard[A-Z]|reshard|leftTo|alternating)\w+$/.test(text),
  );
  const options = ['shardWidth', 'shardCount'];
  expect(called.filter((name) => !(name in core) && !options.includes(name))).toEqual([]);
});

test('the guide documents.md names only commands that exist', () => {
  const commands = code.flatMap((text) => /^npx even-shards (\w+)/.exec(text)?.[1] ?? []);
  expect(commands.length).toBeGreaterThan(3);
  expect(commands.filter((name) => !existsSync(`bin/${name}`))).toEqual([]);
});

/** The commands in the guide that are complete, so that the test can run them. These commands need no AWS account. */
const complete = `${page}${readFileSync('docs/guides/documents-line-by-line.md', 'utf8')}`
  .match(/(?<=`npx even-shards )(?:keys|plan|simulate) [^`]*--[^`]*/g)!
  .filter((command) => !/ (?:[A-Z]+|\.\.\.)( |$)/.test(command));

test.each([...new Set(complete)])(
  'a complete command in the guides documents.md and documents-line-by-line.md runs without an error: %s',
  async (command) => {
    const [name, ...args] = command.split(' ') as ['keys' | 'plan' | 'simulate', ...string[]];
    expect(await printed({ keys, plan, simulate }[name], ...args)).not.toBe('');
  },
);

describe('the documents, line by line', () => {
  const lines = readFileSync('docs/guides/documents-line-by-line.md', 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, number, statement, covered] = /^(\d+)\. (.*?) \((?=[`[])(.*)\)$/.exec(line) ?? [];
      return covered === undefined ? [] : [[number!, statement!, covered] as const];
    });

  test('have consecutive numbers', () => {
    expect(lines.map(([number]) => Number(number))).toEqual(lines.map((_, index) => index + 1));
    expect(lines.length).toBeGreaterThanOrEqual(140);
  });

  test.each(lines)('line %s names a test, a command or a page that exists: %s', (_, __, here) => {
    const shown = [...here.matchAll(/`([^`]+)`/g)].map(([, text]) => text!);
    const pages = [...here.matchAll(/\]\(([^)#]+)/g)].map(([, page]) => `docs/guides/${page}`);
    const files = [...shown.filter((text) => text.startsWith('test/')), ...pages];
    const commands = shown.flatMap((text) => /^npx even-shards (\w+)/.exec(text)?.[1] ?? []);
    expect(files.length + commands.length).toBeGreaterThan(0);
    expect(files.filter((file) => !existsSync(file))).toEqual([]);
    expect(commands.filter((name) => !existsSync(`bin/${name}`))).toEqual([]);
  });
});
