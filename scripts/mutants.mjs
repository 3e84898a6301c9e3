// Breaks the library in one place after another, and expects tests to fail each time, with a quarter of their usual random
// cases. The places are those that test/models/mutants/mutants.json names, and those of the models in models.json beside it, each
// with the test that must fail; or some of lib/core that chance draws, with all tests of their room. They are replaced while jest
// compiles them: no file is touched.
//
//     npm run mutants [-- --runs 0.25] [words of a rule]
//     npm run mutants -- --sample 30 --seed 1 [--runs 0.25]
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { parseArgs } from 'node:util';
import jestConfig from '../jest.config.mjs';
import { drawMutants } from '../test/models/mutants/draw-mutants.mjs';

/** A mutant that makes a test wait for ever is caught by that. */
const LONGEST_RUN_MS = 300_000;

const { values, positionals } = parseArgs({
  options: {
    runs: { type: 'string', default: '0.25' },
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
  },
  allowPositionals: true,
});
const read = (file) => JSON.parse(readFileSync(file, 'utf8'));
const { projects, testTimeout } = jestConfig;
const [unit, models] = ['unit', 'models'].map((tier) => projects.find(({ displayName }) => displayName === tier));
const testMatch = [...unit.testMatch, ...models.testMatch];
const [[pattern, [, swc]]] = Object.entries(unit.transform);
const named = values.sample === undefined;
const mutants = named ? chosen(positionals.join(' ')) : drawn(Number(values.sample));

const broken = named ? failures([...new Set(mutants.flatMap(({ stages }) => stages.flat()))], '') : [];
if (broken.length > 0) throw new Error(`fails without any mutant: ${broken.join('; ')}`);

let survivors = 0;
for (const { rule, file, text, replacement, stages, test } of mutants) {
  let first;
  for (const suites of stages) first ??= failures(suites, test, { file, text, replacement })[0];
  if (first === undefined) survivors += 1;
  console.log(`${first ? 'caught  ' : 'SURVIVED'}  ${rule}${first ? `\n          by: ${first}` : ''}`);
}
console.log(
  `${mutants.length - survivors} of ${mutants.length} mutants were caught, with ${values.runs} of the random cases`,
);
process.exitCode = survivors === 0 ? 0 : 1;

function chosen(words) {
  const listed = ['mutants', 'models'].flatMap((list) => read(`test/models/mutants/${list}.json`));
  const found = listed.filter(({ rule }) => rule.includes(words));
  if (found.length === 0) throw new Error(`no rule has the words: ${words}`);
  return found.map(({ suite, test = '', ...mutant }) => ({ ...mutant, stages: [[suite]], test }));
}

function drawn(count) {
  return drawMutants(count, numbersFrom(Number(values.seed))).map((mutant) => ({
    ...mutant,
    stages: stagesOf(mutant.file),
    test: '',
  }));
}

/** The suites that may know a file: its own, those beside it, those of its room, and the long ones of its room. */
function stagesOf(file) {
  const room = file.split('/')[2];
  const rooms = room === 'foundation' ? 'core' : `core/${room}`;
  const [unitSuites, longSuites] = [suitesIn(`test/unit/${rooms}`), suitesIn(`test/models/${rooms}`)];
  const own = [...unitSuites, ...longSuites].filter((suite) => basename(suite) === `${basename(file, '.ts')}.test.ts`);
  const near = suitesIn(dirname(file).replace('lib/', 'test/unit/'));
  const seen = new Set();
  return [own, near, unitSuites, longSuites]
    .map((suites) => suites.filter((suite) => !seen.has(suite) && seen.add(suite)))
    .filter((suites) => suites.length > 0);
}

function suitesIn(folder) {
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder, { recursive: true }).filter((file) => file.endsWith('.test.ts'));
  return files.map((file) => `${folder}/${file}`);
}

/** Runs tests, with a mutant in place or with none, to the first suite that fails. Returns the names of tests that failed. */
function failures(suites, test, mutation = {}) {
  const transform = { [pattern]: ['<rootDir>/test/models/mutants/mutating-transform.mjs', { swc, ...mutation }] };
  const config = JSON.stringify({ ...unit, testMatch, rootDir: process.cwd(), transform });
  const { stdout, stderr, error } = spawnSync(
    process.execPath,
    ['node_modules/jest/bin/jest.js', '--config', config, '--bail', '--json', '--testNamePattern', test].concat(
      // A project knows no time-out. By jest's own, a busy machine would catch mutants.
      ['--testTimeout', String(testTimeout)],
      suites.length === 1 ? ['--runInBand'] : [],
      '--runTestsByPath',
      suites,
    ),
    {
      encoding: 'utf8',
      env: { ...process.env, RANDOM_RUNS: values.runs },
      maxBuffer: Number.POSITIVE_INFINITY,
      timeout: mutation.file === undefined ? undefined : LONGEST_RUN_MS,
    },
  );
  if (error?.code === 'ETIMEDOUT') return [`no end within ${LONGEST_RUN_MS / 60_000} minutes`];
  let report;
  try {
    report = JSON.parse(stdout);
  } catch {
    // Jest 30 ends with the first failure and reports it in words alone.
    const failed = /^ *● (.+)$/m.exec(stderr);
    if (failed !== null) return [failed[1]];
    // What a test leaves undone can end jest itself.
    if (!named) return ['jest ends without a report'];
    throw new Error(`jest did not report: ${stderr}`);
  }
  const tests = report.testResults.flatMap(({ assertionResults }) => assertionResults);
  const ran = tests.filter(({ status }) => status === 'passed' || status === 'failed');
  const failed = ran.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName);
  // A suite that does not even load has caught nothing, unless it was drawn: then nothing can use what does not load.
  if (ran.length === 0 && !named) return ['no suite loads'];
  if (ran.length === 0) throw new Error(`no test of ${suites} ran: ${report.testResults[0]?.message ?? stderr}`);
  return failed;
}

/** Numbers in [0, 1) that a seed repeats. Source: Park and Miller, the minimal standard. */
function numbersFrom(seed) {
  let state = (seed * 48_271) % 2_147_483_647;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
