/**
 * Packs the last commit twice, each time from a fresh clone in a separate folder, and requires the same bytes: npm run
 * release:twice. If the bytes are the same, any user can build the tarball of a release again with npm ci and npm pack.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folder = mkdtempSync(join(tmpdir(), 'pack-twice-'));
try {
  const [first, second] = ['one', join('another', 'and', 'a', 'deeper', 'one')].map((name) =>
    packed(join(folder, name)),
  );
  console.log(`${first}\n${second}`);
  if (first !== second) throw new Error('two builds of one commit differ');
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** The name and the hash of the tarball of a fresh clone. */
function packed(clone) {
  execFileSync('git', ['clone', '--quiet', '.', clone], { stdio: 'inherit' });
  // Each clone needs its own node_modules, because esbuild writes the real paths of modules into comments of the
  // bundled command.
  execFileSync('npm', ['ci', '--silent', '--no-audit', '--prefer-offline'], { cwd: clone, stdio: 'inherit' });
  execFileSync('npm', ['pack', '--silent'], { cwd: clone, stdio: 'ignore' });
  const [tarball] = readdirSync(clone).filter((file) => file.endsWith('.tgz'));
  return `${tarball} ${createHash('sha256')
    .update(readFileSync(join(clone, tarball)))
    .digest('hex')}`;
}
