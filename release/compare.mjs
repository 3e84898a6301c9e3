/**
 * Compares the constructs of dist with the constructs of the last release: npm run release:compare. A change that
 * breaks apps needs a new major version. Before 1.0.0, it needs a new minor version. Source: semantic versioning,
 * items 4 and 8.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const { name, version } = JSON.parse(readFileSync('package.json', 'utf8'));

/** The placeholder that reserves the name on npm until the first release. See release/README.md. */
const PLACEHOLDER = '0.0.0';

const last = lastRelease();
if (last === undefined || last === PLACEHOLDER) {
  console.log(`${name} has no release yet: there is nothing to compare with`);
  process.exit();
}

const mayBreak = promiseOf(version) !== promiseOf(last);
console.log(`${name} ${version} and the release ${last}: changes may ${mayBreak ? '' : 'not '}break an app`);
execFileSync('npm', ['ci', '--prefix', 'release', '--no-audit'], { stdio: 'inherit' });
const arguments_ = ['--default-stability', 'stable', '--error-on', 'all', `npm:${name}@${last}`, resolve('.')];
const { status } = spawnSync('release/node_modules/.bin/jsii-diff', arguments_, { stdio: 'inherit' });
process.exit(mayBreak ? 0 : status);

function lastRelease() {
  const view = spawnSync('npm', ['view', name, 'version'], { encoding: 'utf8' });
  if (view.status === 0) return view.stdout.trim();
  if (view.stderr.includes('E404')) return undefined;
  console.error(view.stderr);
  process.exit(1);
}

/** The part of a version that must change if a change breaks apps: 1 of 1.2.3, and 0.1 of 0.1.2. */
function promiseOf(text) {
  const [major, minor] = text.split('.');
  return major === '0' ? `${major}.${minor}` : major;
}
