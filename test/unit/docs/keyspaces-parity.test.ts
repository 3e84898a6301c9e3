import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The guide to Amazon Keyspaces says of each thing that DynamoDB has what stands for it, and which test holds it. */

const GUIDE = 'docs/guides/keyspaces.md';
const section = readFileSync(GUIDE, 'utf8').split('\n## What DynamoDB has, too\n')[1]!.split('\n## ')[0]!;
const lines = section
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .slice(2)
  .map((line) => line.slice(2, -2).split(' | '));

const sources = ['lib', 'bin']
  .flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => readFileSync(join(folder, name), 'utf8')),
  )
  .join('\n');

test('has lines', () => expect(lines.length).toBeGreaterThan(15));

test.each(lines)('%s: %s, %s', (_what, dynamodb, keyspaces, held) => {
  const names = [...`${dynamodb} ${keyspaces}`.matchAll(/`([^`]+)`/g)].map(([, name]) => name!.split(' ').at(-1)!);
  expect(names.length).toBeGreaterThan(0);
  expect(names.filter((name) => !new RegExp(`(?<!\\w)${name}(?!\\w)`).test(sources))).toEqual([]);
  const [, title, path] = /^\[(.+)\]\((.+)\)$/.exec(held!)!;
  const suite = readFileSync(join(dirname(GUIDE), path!), 'utf8');
  expect([`'${title}`, `\`${title}`].filter((begin) => suite.includes(begin))).toHaveLength(1);
});
