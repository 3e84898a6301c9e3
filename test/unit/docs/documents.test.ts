import { existsSync, readFileSync } from 'node:fs';
import ts from 'typescript';
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
const complete = page
  .match(/(?<=`npx even-shards )(?:keys|plan|simulate) [^`]*--[^`]*/g)!
  .filter((command) => !/ (?:[A-Z]+|\.\.\.)( |$)/.test(command));

test.each([...new Set(complete)])(
  'a complete command in the guide documents.md runs without an error: %s',
  async (command) => {
    const [name, ...args] = command.split(' ') as ['keys' | 'plan' | 'simulate', ...string[]];
    expect(await printed({ keys, plan, simulate }[name], ...args)).not.toBe('');
  },
);

describe('the documents, line by line', () => {
  const text = readFileSync('docs/guides/documents-line-by-line.md', 'utf8');
  const rows = text.split(/\n(?=\d+\. )/).slice(1);
  const evidence = rows.flatMap((row) => {
    const [statement, ...lines] = row.split('\n');
    const number = /^\d+/.exec(statement!)![0];
    return lines.filter((line) => line.startsWith('    - ')).map((line) => [number, line.slice(6)] as const);
  });
  const ofKind = (pattern: RegExp) =>
    evidence.flatMap(([number, line]) => {
      const [, ...parts] = pattern.exec(line) ?? [];
      return parts.length === 0 ? [] : [[number, ...parts] as [string, string, string]];
    });
  const tests = ofKind(/^test: (.+) \(`(test\/[^`]+)`\)$/);
  const commands = ofKind(/^command: `npx even-shards ([^`]+)` prints `([^`]+)`$/);
  const pages = ofKind(/^page: \[[^\]]+\]\(([^)]+)\): (.+)$/);

  test('have consecutive numbers, and each row has evidence of a known form', () => {
    expect(rows.map((row) => Number.parseInt(row, 10))).toEqual(rows.map((_, index) => index + 1));
    expect(rows).toHaveLength(170);
    expect(new Set(evidence.map(([number]) => number)).size).toBe(rows.length);
    expect(tests.length + commands.length + pages.length).toBe(evidence.length);
    expect(commands.length).toBeGreaterThan(15);
  });

  test('name only tests that exist, with the title that each test has in its file', () => {
    const titles = new Map([...new Set(tests.map(([, , file]) => file))].map((file) => [file, titlesIn(file)]));
    const missing = tests.filter(([, title, file]) => !titles.get(file)!.includes(title));
    expect(missing).toEqual([]);
  });

  test.each(commands)('row %s names a command with its output: %s', async (_, command, output) => {
    const [name, ...args] = command.split(' ') as ['keys' | 'plan' | 'simulate', ...string[]];
    expect(plain(await printed({ keys, plan, simulate }[name], ...args))).toContain(output);
  });

  test.each(pages)('row %s names a sentence of a page: %s', (_, link, sentence) => {
    const [file, anchor] = link.split('#');
    const page = readFileSync(`docs/guides/${file}`, 'utf8');
    const sections = page.split(/\n(?=#+ )/);
    const slugOf = (section: string) => section.split('\n')[0]!.replace(/^#+ /, '').toLowerCase().replaceAll(' ', '-');
    const shown = anchor === undefined ? page : sections.find((section) => slugOf(section) === anchor);
    expect(plain(shown!)).toContain(plain(sentence));
  });
});

/** A text without line breaks and without the targets of links. */
function plain(markdown: string): string {
  return markdown.replace(/\[([^\]]+)\](\([^)]*\)|\[[^\]]*\])/g, '$1').replace(/\s+/g, ' ');
}

/** The titles of the tests in a file, as its source contains them. */
function titlesIn(file: string): string[] {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.ES2023);
  const titles: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && /^test/.test(node.expression.getText(source))) {
      const [title] = node.arguments;
      if (title !== undefined) titles.push(title.getText(source).slice(1, -1));
    }
    node.forEachChild(visit);
  };
  visit(source);
  return titles;
}
