import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { synthesizeReferenceApp } from '../../support/reference-app';

/** Runs the story of `npm start`, and compares its output with README.md. */

/** Leaves out what depends on the time: the throttled records, and what the consumer stored without the library. */
const comparable = (line: string) =>
  line
    .trim()
    .replace(/^(org-\S+(?: {2,}\w+(?: commits)?){2}) {2,}.*$/, '$1')
    .replace(/^(---.*) -+$/, '$1')
    .replace(/(EvenShards-Events)\S+$/, '$1')
    .replace(/throttled [\d,]+ records?/, 'throttled N records')
    .replace(/^Without the library, [1-8] of 8/, 'Without the library, N of 8');

test('npm start prints the output in the README: with the library, the consumer stored every repository correctly', () => {
  const app = synthesizeReferenceApp();
  const play = ['scripts/run-bundled.mjs', 'scripts/story', 'play', app];
  const { status, stdout, stderr } = spawnSync(process.execPath, play, { encoding: 'utf8' });
  rmSync(app, { recursive: true });
  expect({ status, errors: stderr.replace(/^writing: .* with the library\n/gm, '') }).toEqual({
    status: 0,
    errors: '',
  });
  expect(stdout).toMatch(/Without the library, [1-8] of 8 repositories are wrong\. With the library, 0 of 8/);
  const late = [...stdout.matchAll(/In the stream, (\d+) events? came late: after a newer event/g)].map(
    ([, count]) => count,
  );
  expect(late).toEqual([expect.stringMatching(/^[1-9]/), '0']);

  const readme = readFileSync('README.md', 'utf8');
  const shown = [...readme.matchAll(/`npm start`[^`]*?prints[^`]*?:\n\n```\n(.*?)\n```/gs)].flatMap(([, block]) =>
    block!.split('\n').filter((line) => line.trim() !== '' && line.trim() !== '...'),
  );
  expect(shown.length).toBeGreaterThan(10);
  const printed = stdout.split('\n').map(comparable);
  expect(shown.map(comparable).filter((line) => !printed.includes(line))).toEqual([]);
}, 300_000);
