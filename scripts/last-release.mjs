/**
 * Provides the packed package of the last release and of the working tree, so that tests can run two versions in
 * parallel. Each package is unpacked into a folder of node_modules/.cache, where it finds its peers in node_modules.
 *
 * usage: node scripts/last-release.mjs, which prints the folder of the last release
 */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The last release: a version on npm, such as `0.1.0`. Before the first release, the full hash of a commit. */
export const LAST_RELEASE = '847895202c5109191c339258f90a7f87f77b12e5';

const IS_COMMIT = /^[0-9a-f]{40}$/.test(LAST_RELEASE);

/** The commit or the tag of the last release. */
export const LAST_RELEASE_REF = IS_COMMIT ? LAST_RELEASE : `v${LAST_RELEASE}`;

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const NAME = 'cdk-even-shards';
const NPM = process.platform === 'win32' ? 'npm.cmd' : 'npm';

/**
 * Returns the folder of the package of the last release. The first call builds or downloads the package. Returns
 * undefined and prints the reason, if the clone does not contain the commit.
 */
export function lastRelease() {
  const cache = join(ROOT, 'node_modules/.cache', `last-release@${LAST_RELEASE}`);
  if (!existsSync(cache)) {
    if (IS_COMMIT && spawnSync('git', ['cat-file', '-e', `${LAST_RELEASE}^{commit}`], { cwd: ROOT }).status !== 0) {
      console.log(
        `SKIPPED: this clone does not contain the last release, commit ${LAST_RELEASE}: git fetch --unshallow`,
      );
      return undefined;
    }
    console.log(`${IS_COMMIT ? 'building' : 'fetching'} the last release, ${LAST_RELEASE}`);
    unpack(IS_COMMIT ? packCommit : packFromNpm, cache);
  }
  return join(cache, 'node_modules', NAME);
}

/** Packs dist and the other published files of the working tree. Returns the folder of the package. */
export function currentPackage() {
  if (!existsSync(join(ROOT, 'dist/lambda'))) throw new Error('dist is missing: run npm run build first');
  const cache = join(ROOT, 'node_modules/.cache', 'current-package');
  unpack((folder) => pack(ROOT, folder), cache);
  return join(cache, 'node_modules', NAME);
}

/** Another process may read the cache, so this function replaces the folder in one step. */
function unpack(packInto, cache) {
  const part = `${cache}.${process.pid}`;
  const folder = join(part, 'node_modules', NAME);
  mkdirSync(folder, { recursive: true });
  try {
    packInto(part);
    const [tarball] = readdirSync(part).filter((file) => file.endsWith('.tgz'));
    execFileSync('tar', ['-x', '-z', '-f', join(part, tarball), '-C', folder, '--strip-components=1']);
    rmSync(join(part, tarball));
    rmSync(cache, { recursive: true, force: true });
    renameSync(part, cache);
  } finally {
    rmSync(part, { recursive: true, force: true });
  }
}

function packCommit(into) {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'last-release-'));
  const tree = join(folder, 'tree');
  const git = (...gitArguments) => execFileSync('git', gitArguments, { cwd: ROOT, stdio: 'pipe' });
  try {
    git('worktree', 'add', '--detach', tree, LAST_RELEASE);
    symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'), 'junction');
    npm(tree, 'run', 'build');
    pack(tree, into);
  } finally {
    rmSync(folder, { recursive: true, force: true });
    git('worktree', 'prune');
  }
}

function packFromNpm(into) {
  npm(into, 'pack', `${NAME}@${LAST_RELEASE}`);
}

function pack(tree, into) {
  npm(tree, 'pack', '--ignore-scripts', '--pack-destination', into);
}

function npm(cwd, ...npmArguments) {
  const options = { cwd, encoding: 'utf8', stdio: 'pipe', shell: process.platform === 'win32' };
  const { status, stdout, stderr } = spawnSync(NPM, npmArguments, options);
  if (status !== 0) throw new Error(`npm ${npmArguments.join(' ')} ended with ${status}:\n${stdout}\n${stderr}`);
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  console.log(lastRelease());
}
