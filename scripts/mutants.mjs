// Changes the core in random places, and lists, by function, the mutants that no test catches. One process switches the
// mutants on and off for many tests, so no source file changes. The tests of a mutant have three tiers: the unit
// tests of its folder that reach the mutant, the integration tests of its folder, and all unit tests and models of the
// core. `--tier` sets the last tier to run.
//
//     npm run mutants -- [--sample 300] [--seed 1] [--tier unit | integration | models] [--runs 0.25] [--workers 2] [folders of lib/core]
//     npm run mutants -- --list [--sample 300] [--seed 1] [folders of lib/core] > drawn.json
//     npm run mutants -- --from drawn.json [--renamed renamed.json] [--report outcomes.json]
//
// --list only prints the drawn mutants. --from runs the mutants of a list. It leaves out a mutant if the code no longer
// has the same expression. --renamed maps the old names of the list to new names: { "lib/core/old.ts":
// "lib/core/new.ts", "oldName": "newName" }. A key that ends with a slash is a folder. --report writes the outcome of
// each mutant.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import jestConfig from '../jest.config.mjs';
import { judge } from '../test/models/mutants/judge.mjs';
import { present } from '../test/models/mutants/present-mutants.mjs';
import { drawableMutants, switchedCore } from '../test/models/mutants/switched-core.mjs';
import './sql-module.mjs';

const CATCHES = ['caught', 'hangs', 'ends'];

const { values, positionals } = parseArgs({
  options: {
    runs: { type: 'string', default: '0.25' },
    sample: { type: 'string', default: '300' },
    seed: { type: 'string', default: '1' },
    tier: { type: 'string', default: 'models' },
    workers: { type: 'string', default: '2' },
    list: { type: 'boolean', default: false },
    from: { type: 'string' },
    renamed: { type: 'string' },
    report: { type: 'string' },
  },
  allowPositionals: true,
});
const workers = Number(values.workers);
const outcomes = [];
const mutants = values.from === undefined ? drawn() : listed();
if (values.list) console.log(JSON.stringify(mutants, null, 2));
else await breakAll();

function drawn() {
  const folders = positionals.map((folder) => `lib/core/${folder.replace('lib/core/', '')}`);
  const all = drawableMutants().filter(
    ({ file }) => folders.length === 0 || folders.some((each) => file.startsWith(each)),
  );
  return shuffled(all, numbersFrom(Number(values.seed))).slice(0, Number(values.sample));
}

/** The mutants of the list whose expression still exists in the code. Reports the other mutants as gone. */
function listed() {
  const renamed = values.renamed === undefined ? {} : JSON.parse(readFileSync(values.renamed, 'utf8'));
  const found = present(JSON.parse(readFileSync(values.from, 'utf8')), drawableMutants(), renamed);
  if (!values.list) for (const { was, mutant } of found) if (mutant === undefined) say(was, 'gone');
  return [...new Set(found.flatMap(({ mutant }) => mutant ?? []))];
}

async function breakAll() {
  await judgeAll(mutants.map((mutant, number) => ({ ...mutant, number })));
  printSurvivors();
  const counts = new Map();
  for (const { outcome } of outcomes) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  console.log(`${outcomes.length} mutants: ${[...counts].map(([outcome, count]) => `${count} ${outcome}`).join(', ')}`);
  if (values.report !== undefined) writeFileSync(values.report, JSON.stringify(outcomes, null, 2));
  process.exitCode = outcomes.every(({ outcome }) => CATCHES.includes(outcome) || outcome === 'gone') ? 0 : 1;
}

async function judgeAll(all) {
  // The temporary folder of all suites, because a killed suite does not remove its files.
  const temporary = mkdtempSync(join(tmpdir(), 'cdk-even-shards-mutants-'));
  for (const variable of ['TMPDIR', 'TMP', 'TEMP']) process.env[variable] = temporary;
  process.on('exit', () => rmSync(temporary, { recursive: true, force: true, maxRetries: 9 }));
  process.on('SIGINT', () => process.exit(130));
  const { moduleNameMapper } = jestConfig.projects.find(({ displayName }) => displayName === 'unit');
  process.env.MUTANTS_PLAN = join(temporary, 'plan.json');
  process.env.RANDOM_RUNS = values.runs;
  const plan = { sources: switchedCore(all), moduleNames: Object.entries(moduleNameMapper) };
  writeFileSync(process.env.MUTANTS_PLAN, JSON.stringify(plan));

  const left = [];
  for (const folder of new Set(all.map(folderOf))) {
    let ofFolder = all.filter((mutant) => folderOf(mutant) === folder);
    for (const suites of [suitesIn(`test/unit/core/${folder}`), integrationOf(folder)]) {
      if (suites.length === 0) continue;
      const rest = [];
      const keep = (mutant, outcome, by) => (CATCHES.includes(outcome) ? say(mutant, outcome, by) : rest.push(mutant));
      await judge(suites, ofFolder, workers, keep);
      ofFolder = rest;
    }
    left.push(...ofFolder);
  }
  const models = values.tier === 'models' ? suitesIn('test/models/core') : [];
  await judge([...suitesIn('test/unit/core'), ...models], left, workers, say);
}

function say(mutant, outcome, by) {
  outcomes.push({ ...mutant, outcome, by });
  const { file, function: owner, change, before, after } = mutant;
  console.log(
    `${outcome}: ${file} ${owner}: ${change}: ${oneLine(before)} -> ${oneLine(after)}${by === undefined ? '' : `\n      ${by}`}`,
  );
}

function printSurvivors() {
  const survivors = outcomes.filter(({ outcome }) => !CATCHES.includes(outcome) && outcome !== 'gone');
  const functions = new Set(survivors.map((each) => `${each.file} ${each.function}`));
  for (const place of [...functions].sort()) {
    console.log(`\n${place}`);
    for (const each of survivors.filter((other) => `${other.file} ${other.function}` === place))
      console.log(`  ${each.outcome}: ${each.change}: ${oneLine(each.before)} -> ${oneLine(each.after)}`);
  }
}

function oneLine(text) {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > 80 ? `${line.slice(0, 77)}...` : line;
}

/** The integration tests of a folder that run its code in their own process. */
function integrationOf(folder) {
  if (values.tier === 'unit') return [];
  return suitesIn('test/integration').filter(
    (suite) =>
      suite.startsWith(`test/integration/${folder}-`) && readFileSync(suite, 'utf8').includes(`lib/core/${folder}'`),
  );
}

function folderOf({ file }) {
  return file.split('/')[2];
}

/** The suites of a folder. Leaves out suites that mock a module, because they need Jest's module loader. */
function suitesIn(folder) {
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder, { recursive: true }).filter((file) => file.endsWith('.test.ts'));
  const suites = files.map((file) => `${folder}/${file}`);
  return suites.filter((suite) => !readFileSync(suite, 'utf8').includes('jest.mock('));
}

function shuffled(list, random) {
  for (let index = list.length - 1; index > 0; index--) {
    const other = Math.floor(random() * (index + 1));
    [list[index], list[other]] = [list[other], list[index]];
  }
  return list;
}

/** A generator of random numbers in [0, 1), with a seed. Source: the minimal standard generator of Park and Miller. */
function numbersFrom(seed) {
  let state = (seed * 48_271) % 2_147_483_647;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
