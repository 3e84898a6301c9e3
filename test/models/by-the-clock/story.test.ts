import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { synthesizeReferenceApp } from '../../support/reference-app';

/** Runs the story of `npm start`, and compares its output with README.md. */

/** Numbers and faults differ from run to run, because the limits of the shards depend on time. */
const comparable = (line: string) =>
  line
    .trim()
    .replace(/(commits?|destroyed): WRONG, .*$/, '$1')
    .replace(/\.\.\.$/, '')
    .replace(/[\d,]*\d/g, 'N');

test('npm start prints the output in the README: with the library, the consumer stored every repository correctly', () => {
  const app = synthesizeReferenceApp();
  const play = ['scripts/run-bundled.mjs', 'scripts/story', 'play', app];
  const { status, stdout, stderr } = spawnSync(process.execPath, play, { encoding: 'utf8' });
  rmSync(app, { recursive: true });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toMatch(/Without the library, [1-9]\d* of 12 repositories are wrong\. With the library, 0 of 12/);

  const readme = readFileSync('README.md', 'utf8');
  const shown = [...readme.matchAll(/`npm start`[^`]*?prints[^`]*?:\n\n```\n(.*?)\n```/gs)].flatMap(([, block]) =>
    block!.split('\n').filter((line) => line.trim() !== '' && line.trim() !== '...'),
  );
  expect(shown.length).toBeGreaterThan(10);
  const printed = stdout.split('\n').map(comparable);
  expect(shown.map(comparable).filter((line) => !printed.some((each) => each.startsWith(line)))).toEqual([]);
}, 300_000);
