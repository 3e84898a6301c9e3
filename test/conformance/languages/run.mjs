/**
 * Packs the constructs for other languages, and checks the packages: npm run languages [python] [java] [go] [dotnet].
 * Checks for each language:
 *
 * - its app synthesizes the same template and the same assets as the app in TypeScript
 * - in Python, every method has the same effect as in TypeScript
 * - the page of docs/start works without changes
 *
 * Without arguments, the command uses every installed language, and prints the skipped languages. The packages are in
 * dist/languages afterwards, in the layout for publib. Run npm run build before.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { LANGUAGES } from './languages.mjs';
import { withPythonNames } from './python-names.mjs';
import { followPage } from './start-pages.mjs';

const HERE = import.meta.dirname;
const ROOT = resolve(HERE, '../../..');
const PACKAGES = join(ROOT, 'dist/languages');
const CACHE = join(ROOT, 'node_modules/.cache/languages');
const TABLET = join(CACHE, 'tablet.json');
const STAGE = join(CACHE, 'stage');
const STAGED = join(STAGE, 'package');

/** The environment without the warnings of jsii about deprecated APIs and about the version of Node.js. */
const ENVIRONMENT = { ...process.env, JSII_DEPRECATED: 'quiet', JSII_SILENCE_SUPPORT_WARNING: '1' };

const names = process.argv.slice(2);
const unknown = names.find((name) => !Object.hasOwn(LANGUAGES, name));
if (unknown !== undefined) fail(`unknown language ${unknown}: name some of ${Object.keys(LANGUAGES).join(', ')}`);
const found = (names.length > 0 ? names : Object.keys(LANGUAGES)).filter((name) => {
  const missing = LANGUAGES[name].tools.filter(([tool, ...args]) => spawnSync(tool, args).status !== 0);
  if (missing.length > 0)
    console.log(`${name}: skipped, because there is no ${missing.map(([tool]) => tool).join(', no ')}`);
  return missing.length === 0;
});
if (found.length < names.length) fail('a named language has no tools on this machine');
if (!existsSync(join(ROOT, '.jsii'))) fail('there is nothing to pack: run npm run build');

mkdirSync(CACHE, { recursive: true });
stage();
run('npm', ['ci', '--no-audit', '--no-fund', '--prefix', 'test/conformance/languages']);
translateSnippets();
rmSync(PACKAGES, { recursive: true, force: true });
for (const target of ['js', ...found]) pack(target, LANGUAGES[target]?.pacmak);

const projects = new Set();
for (const name of found) {
  const folder = join(CACHE, name);
  for (const synthesize of LANGUAGES[name].runs({ folder, packages: PACKAGES, run, translate })) {
    const outdir = join(CACHE, `${name}.cdk.out`);
    rmSync(outdir, { recursive: true, force: true });
    const { program = 'typescript/app.ts', ...cdk } = synthesize({ ...ENVIRONMENT, CDK_OUTDIR: outdir });
    const expected = inTypeScript(program, cdk);
    for (const file of ['Languages.template.json', 'Languages.assets.json']) {
      if (readFileSync(join(outdir, file)).equals(readFileSync(join(expected, file)))) continue;
      fail(`${name}: ${join(outdir, file)} is not ${join(expected, file)}`);
    }
    console.log(
      `${name}: ${program} makes the same template and assets as TypeScript's, with aws-cdk-lib ${cdk.version}`,
    );
  }
}
for (const name of ['typescript', ...found]) follow(name);

/** Checks that the start page of a language works without changes. */
function follow(name) {
  const { page = name, published } = LANGUAGES[name] ?? {};
  followPage(`docs/start/${page}.md`, join(tmpdir(), `start-${page}`), {
    tarball: tarball(),
    ...published?.(PACKAGES),
  });
  console.log(`${name}: docs/start/${page}.md works without changes`);
}

/** Checks that every example of a docstring compiles. jsii translates only examples that compile. */
function translateSnippets() {
  run(tool('jsii-rosetta'), ['extract', '--strict', '--directory', '.', '--cache-to', TABLET, '.']);
  rmSync(join(ROOT, '.jsii.tabl.json'), { force: true });
}

/**
 * Creates a folder with only the files that npm would publish, because jsii-pacmak copies the folder for each language. jsii-pacmak
 * finds the CDK in a parent folder.
 */
function stage() {
  rmSync(STAGE, { recursive: true, force: true });
  mkdirSync(STAGE, { recursive: true });
  const packed = ['pack', '--ignore-scripts', '--silent', '--pack-destination', STAGE];
  run('npm', packed);
  const [tarball] = readdirSync(STAGE);
  run('tar', ['-xzf', join(STAGE, tarball), '-C', STAGE]);
  rmSync(join(STAGE, tarball));
}

/** Creates the same folder for Python, with Python names in the docstrings. */
function stageForPython() {
  const folder = join(STAGE, 'package-in-python');
  cpSync(STAGED, folder, { recursive: true });
  const assembly = join(folder, '.jsii');
  writeFileSync(assembly, JSON.stringify(withPythonNames(JSON.parse(readFileSync(assembly, 'utf8')))));
  return folder;
}

function pack(target, options = []) {
  const packing = ['--pack-command', 'npm pack --ignore-scripts --silent', '--no-parallel'];
  const snippets = ['--rosetta-tablet', TABLET, '--rosetta-unknown-snippets', 'fail'];
  const folder = target === 'python' ? stageForPython() : STAGED;
  run(tool('jsii-pacmak'), ['--targets', target, '--outdir', PACKAGES, ...snippets, ...packing, ...options, folder]);
}

/** Synthesizes a program in TypeScript with the packed tarball and a version of the CDK. */
function inTypeScript(program, cdk) {
  const folder = projectWith(cdk);
  const app = join(folder, `${basename(program, '.ts')}.js`);
  const outdir = `${app}.out`;
  rmSync(outdir, { recursive: true, force: true });
  const bundling = ['--platform=node', '--format=cjs', '--log-level=warning', `--outfile=${app}`];
  run('node_modules/.bin/esbuild', [join(HERE, program), ...bundling]);
  run(process.execPath, [app], { env: { ...ENVIRONMENT, CDK_OUTDIR: outdir } });
  return outdir;
}

/** Translates a program in TypeScript to Python with the translator of jsii. */
function translate(program, cdk) {
  const folder = projectWith(cdk);
  const file = join(folder, `${basename(program, '.ts')}.py`);
  const options = ['snippet', join(HERE, program), '--language', 'python'];
  // The translator reads types, and their names in other languages, from the packages in its working directory.
  run(tool('jsii-rosetta'), options, { cwd: folder, stdio: ['ignore', openSync(file, 'w'), 'inherit'] });
  return file;
}

/** A project with the packed tarball and a version of the CDK. */
function projectWith({ version, constructs }) {
  const folder = join(CACHE, `typescript-${version}`);
  if (projects.has(folder)) return folder;
  projects.add(folder);
  rmSync(join(folder, 'node_modules/cdk-even-shards'), { recursive: true, force: true });
  const packages = [tarball(), `aws-cdk-lib@${version}`, `constructs@${constructs}`];
  run('npm', ['install', '--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--prefix', folder, ...packages]);
  return folder;
}

function tarball() {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json')));
  return join(PACKAGES, 'js', `cdk-even-shards@${version}.jsii.tgz`);
}

function tool(name) {
  return join(ROOT, 'test/conformance/languages/node_modules/.bin', name);
}

function run(command, args, options = {}) {
  const { status, error } = spawnSync(command, args, { cwd: ROOT, stdio: 'inherit', env: ENVIRONMENT, ...options });
  if (status !== 0) fail(`failed: ${command} ${args.join(' ')} ${error?.message ?? ''}`);
}

function fail(problem) {
  console.error(problem);
  process.exit(1);
}
