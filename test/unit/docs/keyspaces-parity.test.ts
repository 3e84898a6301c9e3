import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The guide to Amazon Keyspaces lists the names for DynamoDB and for Amazon Keyspaces side by side. */

const section = readFileSync('docs/guides/keyspaces.md', 'utf8')
  .split('\n## What DynamoDB has, too\n')[1]!
  .split('\n## ')[0]!;
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

test('the guide to Amazon Keyspaces has a row for each name', () => expect(lines.length).toBeGreaterThan(15));

test.each(lines)('the sources contain the names for %s: %s, %s', (_what, dynamodb, keyspaces) => {
  const names = [...`${dynamodb} ${keyspaces}`.matchAll(/`([^`]+)`/g)].map(([, name]) => name!.split(' ').at(-1)!);
  expect(names.length).toBeGreaterThan(0);
  expect(names.filter((name) => !new RegExp(`(?<!\\w)${name}(?!\\w)`).test(sources))).toEqual([]);
});
