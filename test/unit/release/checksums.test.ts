import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

describe('release/checksums.mjs', () => {
  let folder: string;
  let built: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'checksums-'));
    mkdirSync(join(folder, 'languages/js'), { recursive: true });
    for (const file of ['bom.json', 'languages/js/a.tgz', 'languages/.hidden']) writeFileSync(join(folder, file), file);
    built = run('write', folder).stdout.trim();
  });

  const run = (...args: string[]) =>
    spawnSync(process.execPath, ['release/checksums.mjs', ...args], { encoding: 'utf8' });
  const verify = (checksum = built) => {
    const { status, stdout, stderr } = run('verify', folder, checksum);
    return [status, `${stdout}${stderr}`.trim()];
  };

  test('verify – the folder has all built files except hidden files – passes', () => {
    rmSync(join(folder, 'languages/.hidden'));
    expect(verify()).toEqual([0, '2 files are the ones that were built']);
  });

  test('verify – a file was changed, removed or added, or the list has other files – fails', () => {
    const tarball = join(folder, 'languages/js/a.tgz');
    writeFileSync(tarball, 'other');
    expect(verify()).toEqual([1, 'languages/js/a.tgz is not the one that was built']);
    rmSync(tarball);
    expect(verify()).toEqual([1, 'languages/js/a.tgz is missing']);
    writeFileSync(tarball, 'languages/js/a.tgz');
    writeFileSync(join(folder, 'languages/js/b.tgz'), '');
    expect(verify()).toEqual([1, 'languages/js/b.tgz was not built']);
    run('write', folder);
    expect(verify()).toEqual([1, `SHA256SUMS is not the one that was built: its checksum is not ${built}`]);
    expect(verify('')[0]).toBe(1);
  });

  test('write – a folder without packages – fails', () => {
    rmSync(join(folder, 'languages'), { recursive: true });
    rmSync(join(folder, 'bom.json'));
    expect(run('write', folder)).toMatchObject({ status: 1, stdout: '' });
  });
});
