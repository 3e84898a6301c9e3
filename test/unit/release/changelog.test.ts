import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const CHANGELOG =
  '# Changelog\n\n## 1.2.3 (2026-01-02)\n\n- An index can do more.\n\n## 1.2.2 (2025-12-01)\n\n- It could do less.\n';

describe('release/changelog.mjs notes', () => {
  test('prints the section of the changelog for the version of the tag', () => {
    expect(notes('v1.2.3', CHANGELOG)).toEqual({ status: 0, stdout: '- An index can do more.\n', stderr: '' });
  });

  test.each([
    [
      'a tag of another version',
      'v1.2.2',
      CHANGELOG,
      'the tag must be v1.2.3, the version of package.json, got v1.2.2\n',
    ],
    [
      'no notes',
      'v1.2.3',
      '# Changelog\n\n## Unreleased\n\n- More.\n',
      'CHANGELOG.md must have notes under "## 1.2.3"\n',
    ],
    [
      'empty notes',
      'v1.2.3',
      '# Changelog\n\n## 1.2.3 (2026-01-02)\n',
      'CHANGELOG.md must have notes under "## 1.2.3"\n',
    ],
    [
      'no date',
      'v1.2.3',
      '# Changelog\n\n## 1.2.3\n\n- More.\n',
      'the heading of the notes must be "## 1.2.3 (YYYY-MM-DD)"\n',
    ],
  ])('fails for %s', (_, tag, changelog, problem) => {
    expect(notes(tag, changelog)).toEqual({ status: 1, stdout: '', stderr: problem });
  });
});

test('changed-since fails if lib, lambda or bin has changed, but the changelog has not changed', () => {
  const repository = project(CHANGELOG);
  const run = (command: string, ...args: string[]) =>
    spawnSync(command, args, { cwd: repository, encoding: 'utf8' }).stdout.trim();
  const commit = (file: string) => {
    writeFileSync(join(repository, file), `${file} ${Math.random()}`);
    run('git', 'add', '.');
    run('git', '-c', 'user.name=A', '-c', 'user.email=a@example.com', 'commit', '--quiet', '--message', file);
  };
  run('git', 'init', '--quiet');
  run('mkdir', 'lib');
  commit('README.md');
  const base = run('git', 'rev-parse', 'HEAD');

  commit('README.md');
  expect(changelog(repository, 'changed-since', base).status).toBe(0);
  commit('lib/index.ts');
  expect(changelog(repository, 'changed-since', base)).toMatchObject({
    status: 1,
    stderr: 'lib, lambda or bin changed: give CHANGELOG.md a line for what users see\n',
  });
  commit('CHANGELOG.md');
  expect(changelog(repository, 'changed-since', base).status).toBe(0);
});

function notes(tag: string, text: string) {
  return changelog(project(text), 'notes', tag);
}

function project(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'changelog-'));
  writeFileSync(join(folder, 'CHANGELOG.md'), text);
  writeFileSync(join(folder, 'package.json'), '{ "version": "1.2.3" }');
  return folder;
}

function changelog(cwd: string, ...args: string[]) {
  const program = resolve('release/changelog.mjs');
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { cwd, encoding: 'utf8' });
  return { status, stdout, stderr };
}
