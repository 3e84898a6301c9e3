import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { alarmDescriptions } from '../../support/alarms/alarm-descriptions';

/** Tests that the guide lists each error code, with its cause and fix, and has a link for each alarm. */

const ROOT = join(__dirname, '..', '..', '..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const page = read('docs/guides/something-is-wrong.md');

test('the guide something-is-wrong.md has exactly one row for each error code, with an anchor, a cause and a fix', () => {
  const rows = [...page.matchAll(/^\| <a id="([a-z_]+)"><\/a>`([A-Z_]+)` \| (\S.*\S) \| (\S.*\S) \|$/gm)];
  for (const [, anchor, code] of rows) expect(anchor).toBe(code!.toLowerCase());
  expect(rows.map(([, , code]) => code).sort()).toEqual(codesOfSources());
});

test('the guide something-is-wrong.md has a link to each heading to which an alarm links', () => {
  const headings = alarmDescriptions().map(([, text]) => text.match(/guides\/([a-z-]+\.md#[a-z-]+)$/)![1]!);
  const watched = [...new Set(headings)].filter((heading) => heading.startsWith('monitoring.md'));
  expect(watched.length).toBeGreaterThan(15);
  expect(watched.filter((heading) => !page.includes(`](${heading})`))).toEqual([]);
});

/** The error codes in the sources. */
function codesOfSources(): string[] {
  const files = ['bin', 'lambda', 'lib'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => `${folder}/${name}`),
  );
  const given = /(?:\bcode(?:: string)? = |super\(\s*|new (?:EvenShards|OwnerKey)Error\(\s*)'([A-Z]+(?:_[A-Z]+)*)'/g;
  return [...new Set(files.flatMap((file) => [...read(file).matchAll(given)].map(([, code]) => code!)))].sort();
}
