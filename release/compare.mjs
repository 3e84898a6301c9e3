/**
 * Compares the public interface of the working tree with the last release: npm run release:compare. Each break needs a
 * reason in release/breaks.json. A break without a reason fails, and a reason without a break fails. With --release, a
 * break also needs a new major version, or before 1.0.0 a new minor version. Source: semantic versioning, items 4 and 8.
 *
 * usage: node release/compare.mjs [--release] [LAST CURRENT BREAKS]
 *   LAST, CURRENT  the folders of two unpacked packages; the default is the last release and the working tree
 *   BREAKS         the file with the reasons
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { currentPackage, LAST_RELEASE, lastRelease } from '../scripts/last-release.mjs';
import { constructBreaks } from './constructs.mjs';
import { entryPointBreaks } from './entry-points.mjs';

const { values, positionals } = parseArgs({ allowPositionals: true, options: { release: { type: 'boolean' } } });
const last = positionals[0] ?? lastRelease();
// Without the last release, lastRelease has printed the reason.
if (last === undefined) process.exit(0);
const current = positionals[1] ?? currentPackage();
const { api: reasons } = JSON.parse(readFileSync(positionals[2] ?? join(import.meta.dirname, 'breaks.json'), 'utf8'));

const breaks = new Map([...constructBreaks(last, current), ...entryPointBreaks(last, current)]);
const problems = [
  ...[...breaks].filter(([name]) => !reasons[name]).map(([name, what]) => `no reason for the break "${name}": ${what}`),
  ...Object.keys(reasons)
    .filter((name) => !breaks.has(name))
    .map((name) => `no break for the reason "${name}"`),
  ...(values.release ? versionProblems() : []),
];
for (const problem of problems) console.error(problem);
if (problems.length > 0) {
  console.error('release/breaks.json must have exactly one reason for each break');
  process.exit(1);
}
console.log(`the public interface has ${breaks.size} breaks since ${LAST_RELEASE}, each with a reason`);

function versionProblems() {
  const [before, now] = [last, current].map((folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')));
  const isFirst = /^[0-9a-f]{40}$/.test(LAST_RELEASE);
  if (isFirst || breaks.size === 0 || promiseOf(before.version) !== promiseOf(now.version)) return [];
  return [`${now.version} must not break users of ${before.version}: a break needs a new minor or major version`];
}

/** The part of a version that must change if a change breaks apps: 1 of 1.2.3, and 0.1 of 0.1.2. */
function promiseOf(version) {
  const [major, minor] = version.split('.');
  return major === '0' ? `${major}.${minor}` : major;
}
