// Breaks the library in one place after another, and expects the test that test/models/mutants/mutants.json names to fail
// each time, with a quarter of its usual random cases. The places are replaced while jest compiles them: no file is touched.
//
//     npm run mutants [-- --runs 0.25] [words of a rule]
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  options: { runs: { type: 'string', default: '0.25' } },
  allowPositionals: true,
});
const read = (file) => JSON.parse(readFileSync(file, 'utf8'));
const { projects, testTimeout } = read('jest.config.json');
const [unit, models] = ['unit', 'models'].map((tier) => projects.find(({ displayName }) => displayName === tier));
const testMatch = [...unit.testMatch, ...models.testMatch];
const [[pattern, [, swc]]] = Object.entries(unit.transform);
const mutants = read('test/models/mutants/mutants.json').filter(({ rule }) => rule.includes(positionals.join(' ')));
if (mutants.length === 0) throw new Error(`no rule has the words: ${positionals.join(' ')}`);

/** Runs the tests that must catch some mutants, with one of them in place or with none. Returns the tests that failed. */
function failures(suites, test, mutation = {}) {
  const transform = { [pattern]: ['<rootDir>/test/models/mutants/mutating-transform.mjs', { swc, ...mutation }] };
  const config = JSON.stringify({ ...unit, testMatch, rootDir: process.cwd(), transform });
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['node_modules/jest/bin/jest.js', '--config', config, '--runInBand', '--json', '--testNamePattern', test].concat(
      // A project knows no time-out. By jest's own, a busy machine would catch mutants.
      ['--testTimeout', String(testTimeout)],
      '--runTestsByPath',
      suites,
    ),
    { encoding: 'utf8', env: { ...process.env, RANDOM_RUNS: values.runs }, maxBuffer: Number.POSITIVE_INFINITY },
  );
  let report;
  try {
    report = JSON.parse(stdout);
  } catch {
    throw new Error(`jest did not report: ${stderr}`);
  }
  const tests = report.testResults.flatMap(({ assertionResults }) => assertionResults);
  const ran = tests.filter(({ status }) => status === 'passed' || status === 'failed');
  // A suite that does not even load has caught nothing.
  if (ran.length === 0) throw new Error(`no test of ${suites} ran: ${report.testResults[0]?.message ?? stderr}`);
  return ran.filter(({ status }) => status === 'failed');
}

const broken = failures([...new Set(mutants.map(({ suite }) => suite))], '');
if (broken.length > 0)
  throw new Error(`fails without any mutant: ${broken.map(({ fullName }) => fullName).join('; ')}`);

let survivors = 0;
for (const { rule, file, text, replacement, suite, test = '' } of mutants) {
  const [first] = failures([suite], test, { file, text, replacement });
  if (first === undefined) survivors += 1;
  console.log(`${first ? 'caught  ' : 'SURVIVED'}  ${rule}\n          ${suite}${first ? `: ${first.title}` : ''}`);
}
console.log(
  `${mutants.length - survivors} of ${mutants.length} mutants were caught, with ${values.runs} of the random cases`,
);
process.exitCode = survivors === 0 ? 0 : 1;
