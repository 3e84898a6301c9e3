import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nodeVersionProblem } from '../../bin/node-version';

test.each([
  ['18.20.4', 'even-shards needs a Node.js version of ^20.16 || >=22.3, and this is 18.20.4'],
  ['20.16.0', undefined],
  ['21.7.3', 'even-shards needs a Node.js version of ^20.16 || >=22.3, and this is 21.7.3'],
  ['24.0.0', undefined],
])('Node.js %s has the problem: %s', (version, problem) => {
  expect(nodeVersionProblem(version)).toBe(problem);
});

describe('the command', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'node-version-'));
    copyFileSync('dist/bin/even-shards.js', join(folder, 'even-shards.js'));
    // Loading the other modules of the command fails, as with an older version of Node.js.
    writeFileSync(join(folder, 'command-line.js'), 'throw new Error("loaded")');
  });

  const runOn = (version: string) => {
    const pretend = `Object.defineProperty(process.versions, 'node', { value: '${version}' }); require('./even-shards.js')`;
    return spawnSync(process.execPath, ['-e', pretend], { cwd: folder, encoding: 'utf8' });
  };

  test('on an old version of Node.js, prints the required version before it loads the other modules', () => {
    const { status, stderr } = runOn('18.20.4');
    expect([status, stderr]).toEqual([
      70,
      'even-shards needs a Node.js version of ^20.16 || >=22.3, and this is 18.20.4\n',
    ]);
  });

  test('on a supported version of Node.js, loads the other modules', () => {
    expect(runOn('20.16.0').stderr).toContain('loaded');
  });
});
