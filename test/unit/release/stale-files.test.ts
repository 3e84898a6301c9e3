import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const SCRIPT = join(__dirname, '../../../scripts/remove-stale.mjs');

const SOURCES = ['lib/a.ts', 'lib/core/b.ts', 'lambda/f/index.ts', 'bin/app.ts', 'bin/local/console/page.js'];
const FRESH = [
  'dist/bin/app.js',
  'dist/bin/local/console/page.js',
  'dist/bom.json',
  'dist/esm/core/b.js',
  'dist/lambda/f/index.js',
  'dist/lib/a.d.ts',
  'dist/lib/a.js',
  'dist/lib/core/b.js',
  'dist/test/of-a-test.mjs',
];
const STALE = [
  'dist/bin/local/console/gone.css',
  'dist/esm/core/gone.js',
  'dist/esm/gone/c.js',
  'dist/lambda/gone/index.js',
  'dist/lib/core/gone.d.ts',
  'dist/lib/core/gone.js',
  'dist/lib/gone/deep/c.js',
];

test('the build removes only output of deleted sources', () => {
  const project = mkdtempSync(join(tmpdir(), 'stale-'));
  for (const file of [...SOURCES, ...FRESH, ...STALE]) {
    mkdirSync(dirname(join(project, file)), { recursive: true });
    writeFileSync(join(project, file), '');
  }
  execFileSync(process.execPath, [SCRIPT], { cwd: project });
  expect(filesOf(project, 'dist')).toEqual(FRESH);
  expect(readdirSync(join(project, 'dist/lib')).sort()).toEqual(['a.d.ts', 'a.js', 'core']);
  expect(filesOf(project, 'lib')).toEqual(['lib/a.ts', 'lib/core/b.ts']);
});

function filesOf(project: string, folder: string): string[] {
  return readdirSync(join(project, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(project.length + 1))
    .sort();
}
