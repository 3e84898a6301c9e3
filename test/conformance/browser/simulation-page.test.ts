import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describeWhere } from '../../support/describe-where';

/** Opens the page of `even-shards simulate --html` in a real browser. */

const CLI = join(__dirname, '../../../dist/bin/even-shards.js');
const LOOK = join(__dirname, 'look-at-page.mjs');

const runs = process.platform === 'linux' && process.arch === 'x64';

interface View {
  scheme: string;
  width: number;
  title: string;
  plots: number;
  marks: number;
  sideways: number;
  background: string;
  leastContrast: { text: string; contrast: number };
  smallest: { text: string; pixels: number };
  outside: string[];
  overlaps: string[];
}

describeWhere(runs, 'a headless browser of npm: it has one for Linux x64')('the page of a simulation', () => {
  const folder = mkdtempSync(join(tmpdir(), 'simulation-page-'));
  const file = join(folder, 'page.html');
  let views: View[];
  let requests: string[];
  let errors: string[];

  beforeAll(() => {
    run(CLI, 'simulate', '--keys', '60', '--skew', '1', '--shards', '8', '--html', file);
    ({ views, requests, errors } = JSON.parse(run(LOOK, pathToFileURL(file).href)));
  }, 60_000);

  function run(program: string, ...args: string[]): string {
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' });
    // The browser can report that it was restarted.
    expect({ status, stderr: status === 0 && program === LOOK ? '' : stderr }).toEqual({ status: 0, stderr: '' });
    return stdout;
  }

  test('has a view for each combination of light or dark mode with a wide or narrow window', () => {
    expect(views.map(({ scheme, width }) => [scheme, width])).toEqual([
      ['light', 1280],
      ['light', 390],
      ['dark', 1280],
      ['dark', 390],
    ]);
  });

  test('shows its four plots', () => {
    for (const { title, plots, marks } of views) {
      expect(title).toMatch(/^[\d,]+ records of 60 keys on 8 shards$/);
      expect(plots).toBe(4);
      expect(marks).toBeGreaterThan(150);
    }
  });

  test('makes no further request, runs no script, and reports no error', () => {
    expect(new Set(requests)).toEqual(new Set([pathToFileURL(file).href]));
    expect(errors).toEqual([]);
    expect(readFileSync(file, 'utf8')).not.toContain('<script');
  });

  test('is dark if the user prefers dark', () => {
    const [light, , dark] = views.map(({ background }) => background);
    expect([light, dark]).toEqual(['rgb(246, 247, 249)', 'rgb(18, 20, 24)']);
  });

  test('has enough contrast, and has no text that is too small, outside its plot, or over another text', () => {
    for (const { scheme, width, leastContrast, smallest, outside, overlaps, sideways } of views) {
      expect({ scheme, width, outside, overlaps, sideways }).toEqual({
        scheme,
        width,
        outside: [],
        overlaps: [],
        sideways: 0,
      });
      expect(leastContrast.contrast).toBeGreaterThan(4.5);
      expect(smallest.pixels).toBeGreaterThan(width > 500 ? 10 : 8.5);
    }
  });
});
