/**
 * Makes and checks the golden bytes of test/golden: the bytes of a release in each version of each format. The bytes come
 * from the packed package, with fixed inputs, a fixed time and seeded random numbers.
 *
 * - node scripts/golden.mjs make           writes the bytes of formats whose present version has no file yet
 * - node scripts/golden.mjs make FORMAT    also writes a file of this release for a format whose values have changed
 * - node scripts/golden.mjs check          compares the bytes of this package with the latest file of each version
 *
 * With `--project FOLDER`, the package is already installed in a folder. Otherwise the script packs the working tree, after a
 * build.
 *
 * A file has the name VERSION@RELEASE.json, like a mark. The release is the one that wrote the bytes. A version can have files of
 * several releases, because a release can write other values in the same format. Files are added, and never changed.
 */
import { spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { build } from 'esbuild';
import { currentPackage, LAST_RELEASE } from './last-release.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const GOLDEN = join(ROOT, 'test/golden');
const PARTS = ['data', 'commands', 'templates', 'outbox'];

/** These formats have no versions and no marks: each of their names and fields stays, and a release may add others. */
const ONLY_GROW = ['names', 'responses', 'json output'];

const { positionals, values: options } = parseArgs({
  allowPositionals: true,
  options: { project: { type: 'string' } },
});
const [action, ...formats] = positionals;
if (!['make', 'check'].includes(action)) {
  console.error('usage: node scripts/golden.mjs make [FORMAT...] | check [--project FOLDER]');
  process.exit(2);
}

const lastReleaseRef = /^[0-9a-f]{40}$/.test(LAST_RELEASE) ? LAST_RELEASE : `v${LAST_RELEASE}`;
const project = options.project === undefined ? dirname(dirname(currentPackage())) : resolve(options.project);
const { version: release } = createRequire(join(project, 'package.json'))('cdk-even-shards/package.json');
const { fromText, toText } = await bundled('test/support/golden/json.ts');
const written = await writtenByPackage();
const problems = action === 'make' ? make() : [...changedFiles(), ...check()];
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;

/** Returns the values that the package writes, by format and version. */
async function writtenByPackage() {
  for (const name of options.project === undefined ? [] : ['aws-cdk-lib', 'constructs', 'pg']) {
    const link = join(project, 'node_modules', name);
    if (!existsSync(link)) symlinkSync(join(ROOT, 'node_modules', name), link, 'junction');
  }
  const folder = mkdtempSync(join(tmpdir(), 'golden-'));
  try {
    const entryPoints = PARTS.map((part) => join(ROOT, 'scripts/golden/parts', `${part}.ts`));
    // The programs are in the project, because they import the package that is installed there.
    const outdir = join(project, 'golden-programs');
    await build({
      entryPoints,
      outdir,
      bundle: true,
      packages: 'external',
      platform: 'node',
      target: 'node20',
      logLevel: 'warning',
    });
    const waiting = [...PARTS];
    const made = {};
    const work = async () => {
      for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) {
        const file = join(folder, `${part}.json`);
        await run(join(outdir, `${part}.js`), file);
        made[part] = fromText(readFileSync(file, 'utf8'));
      }
    };
    await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, work));
    rmSync(outdir, { recursive: true });
    return versionsOf(PARTS.flatMap((part) => Object.entries(made[part])));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Runs a program, and prints its output only if the program fails. */
async function run(program, file) {
  const seeded = join(ROOT, 'scripts/golden/seeded.cjs');
  const env = { ...process.env, JSII_DEPRECATED: 'quiet', AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true' };
  const child = spawn(process.execPath, ['--require', seeded, program, file], { cwd: ROOT, env });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data));
  const status = await new Promise((done) => child.on('close', done));
  if (status !== 0) throw new Error(`${program} ended with ${status}:\n${output}`);
  const skipped = /^SKIPPED: .*$/m.exec(output);
  if (skipped !== null) console.log(skipped[0]);
}

/** A name such as `index configuration@2` has the version. Other formats have version 1. */
function versionsOf(all) {
  const versions = new Map();
  for (const [name, values] of all) {
    const [format, version = '1'] = name.split('@');
    const key = `${format}@${version}`;
    versions.set(key, { format, version: Number(version), values: { ...versions.get(key)?.values, ...values } });
  }
  return [...versions.values()];
}

function folderOf(format) {
  return join(GOLDEN, format.replaceAll(' ', '-').toLowerCase());
}

/** The latest file of a version, by its release. */
function latestFile(format, version) {
  const folder = folderOf(format);
  if (!existsSync(folder)) return undefined;
  const ofVersion = readdirSync(folder).filter((file) => file.startsWith(`${version}@`));
  const inOrder = ofVersion.sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  return inOrder.length === 0 ? undefined : join(folder, inOrder.at(-1));
}

function make() {
  const refused = [];
  for (const { format, version, values } of written) {
    const isWanted = formats.includes(format);
    if (!isWanted && latestFile(format, version) !== undefined) continue;
    const file = join(folderOf(format), `${version}@${release}.json`);
    if (isReleased(file)) {
      refused.push(`${file} is part of the last release: increase the version in package.json first`);
      continue;
    }
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, toText({ format, version, release, written: values }));
    console.log(`wrote ${file}`);
  }
  return refused;
}

function isReleased(file) {
  const path = file.slice(ROOT.length).replaceAll('\\', '/');
  return spawnSync('git', ['cat-file', '-e', `${lastReleaseRef}:${path}`], { cwd: ROOT }).status === 0;
}

/** The golden files of the last release that were changed or removed since then. */
function changedFiles() {
  const arguments_ = ['diff', '--name-status', '--no-renames', '--diff-filter=a', lastReleaseRef, '--', 'test/golden'];
  const { status, stdout } = spawnSync('git', arguments_, { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) {
    console.log(`SKIPPED: this clone does not contain the last release, ${lastReleaseRef}`);
    return [];
  }
  const changed = stdout.split('\n').filter((line) => line !== '');
  return changed.map(
    (line) => `a golden file of the last release was changed or removed: ${line.replace('\t', ' ')}; restore the file`,
  );
}

function check() {
  return written.flatMap(({ format, version, values }) => {
    const file = latestFile(format, version);
    if (file === undefined)
      return `${format} has no golden bytes for version ${version}: run node scripts/golden.mjs make`;
    const { written: golden } = fromText(readFileSync(file, 'utf8'));
    const isGrowing = ONLY_GROW.includes(format);
    const problem = isGrowing ? missingIn(values, golden, '') : differenceIn(values, golden, '');
    return problem === undefined ? [] : [message(format, version, problem, isGrowing)];
  });
}

function message(format, version, problem, isGrowing) {
  const lines = isGrowing
    ? [
        'Programs and dashboards of users rely on these names. Keep the name, or list the change as a break in docs/formats.md.',
      ]
    : [
        'The package writes other bytes than the last golden file. If the format has changed:',
        `  1. Give the format version ${version + 1} and its mark, and keep version ${version} readable.`,
        `  2. Read version ${version + 1} in this release, and write it from the next release on: two releases.`,
        '  3. Add the row to docs/formats.md, and run node scripts/golden.mjs make.',
        `If only the values have changed, run node scripts/golden.mjs make ${JSON.stringify(format)}, which adds a file of this release.`,
      ];
  return [`${format}, version ${version}: ${problem}`, ...lines].join('\n');
}

/** Describes the first difference, or returns undefined. */
function differenceIn(now, golden, path) {
  if (isDeepStrictEqual(now, golden)) return undefined;
  const names = isContainer(now) && isContainer(golden) ? Object.keys({ ...golden, ...now }) : [];
  for (const name of names) {
    const problem = differenceIn(now[name], golden[name], `${path} › ${name}`);
    if (problem !== undefined) return problem;
  }
  const start = typeof now === 'string' && typeof golden === 'string' ? sharedStart(now, golden) : 0;
  const [before, after] = start === 0 ? [golden, now] : [golden.slice(start), now.slice(start)];
  return `${path.slice(3)} was ${shortText(before)}, and is now ${shortText(after)}${start === 0 ? '' : `, from character ${start}`}`;
}

/** The number of equal characters at the start of two texts, up to the start of their last equal line. */
function sharedStart(a, b) {
  let equal = 0;
  while (equal < a.length && a[equal] === b[equal]) equal += 1;
  return a.lastIndexOf('\n', equal) + 1;
}

/** Describes the first golden name or value that is missing now, or returns undefined. */
function missingIn(now, golden, path) {
  const isList = Array.isArray(golden) && golden.every((each) => typeof each === 'string');
  if (isList && Array.isArray(now)) {
    const missing = golden.find((each) => !now.includes(each));
    return missing === undefined ? undefined : `${path.slice(3)} has no ${missing} now`;
  }
  if (!isContainer(golden) || !isContainer(now)) return differenceIn(now, golden, path);
  for (const name of Object.keys(golden)) {
    const problem = missingIn(now[name], golden[name], `${path} › ${name}`);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function isContainer(value) {
  return typeof value === 'object' && value !== null && !(value instanceof Uint8Array);
}

function shortText(value) {
  const text = value === undefined ? 'absent' : toText(value).trim();
  return text.length > 200 ? `${text.slice(0, 200)}...` : text;
}

/** Imports a TypeScript module without other modules. */
async function bundled(source) {
  const { outputFiles } = await build({
    entryPoints: [join(ROOT, source)],
    write: false,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}
