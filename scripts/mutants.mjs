// Breaks the library in one place after another, and expects tests to fail each time, with a quarter of their usual random cases. The
// places are replaced while they are compiled: no file is touched.
//
// - Without --sample: those that test/models/mutants/mutants.json names, and those of the models in models.json beside it, each with the
//   test that must fail, in a conformance run where that test needs one.
// - With it: some of lib/core that chance draws, with the unit tests of their room, and those that are left with the integration tests
//   that have the room's name and import it, such as test/integration/outbox-relay.test.ts on a real Postgres; then with the unit tests
//   of all of the core, and with its models. A tier leaves out the longer ones. No test can find those of equivalents.tsv, which says
//   why: they do the same, or are estimates.
//
//     npm run mutants [-- --runs 0.25] [words of a rule]
//     npm run conformance keyspaces mutants [-- --runs 0.25] [words of a rule]
//     npm run mutants -- --sample 300 --seed 1 [--tier unit | integration] [--runs 0.25] [places, such as core/planning or planning/plan-stream.ts:24:]
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import jestConfig from '../jest.config.mjs';
import { judge } from '../test/models/mutants/judge.mjs';
import { runSuite } from '../test/models/mutants/run-suite.mjs';
import { switchedCore } from '../test/models/mutants/switched-core.mjs';

const CATCHES = ['caught', 'hangs', 'ends'];
const KNOWN = ['equivalent', 'estimate'];
const LIMIT_MS = 300_000;
/** A suite that takes so many times as long as without a mutant waits for ever. */
const ENDLESS = 5;

const { values, positionals } = parseArgs({
  options: {
    runs: { type: 'string', default: '0.25' },
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
    tier: { type: 'string', default: 'models' },
    workers: { type: 'string', default: '2' },
    conformance: { type: 'string' },
  },
  allowPositionals: true,
});
// A suite that is killed takes nothing away. A server of Postgres gets into a folder of this name, whoever runs it.
const temporary = mkdtempSync(join(tmpdir(), 'cdk-even-shards-mutants-'));
for (const variable of ['TMPDIR', 'TMP', 'TEMP']) process.env[variable] = temporary;
process.on('exit', () => rmSync(temporary, { recursive: true, force: true, maxRetries: 9 }));
process.on('SIGINT', () => process.exit(130));

const { runs } = values;
const workers = Number(values.workers);
const counts = {};
await (values.sample === undefined ? breakListed() : breakDrawn());
const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
const [caught, known] = [CATCHES, KNOWN].map((each) => each.reduce((sum, outcome) => sum + (counts[outcome] ?? 0), 0));
const summary = Object.entries(counts).map(([outcome, count]) => `${count} ${outcome}`);
console.log(`Of ${all} mutants: ${summary.join(', ')}. Score: ${((100 * caught) / (all - known)).toFixed(1)} %`);
process.exitCode = caught + known === all ? 0 : 1;

function say({ rule }, outcome, by) {
  counts[outcome] = (counts[outcome] ?? 0) + 1;
  console.log(`${outcome}: ${rule}${by === undefined ? '' : `\n      ${by}`}`);
}

async function breakListed() {
  const words = positionals.join(' ');
  const mutants = ['mutants', 'models']
    .flatMap((list) => JSON.parse(readFileSync(`test/models/mutants/${list}.json`, 'utf8')))
    .filter(({ rule, suite }) => rule.includes(words) && isHere(suite));
  if (mutants.length === 0) throw new Error(`no rule has the words: ${words}`);
  const waiting = mutants.values();
  const breakNext = async () => {
    for (const mutant of waiting) {
      const { suite, test } = mutant;
      const { passed, failed, late, broken } = await runSuite(suite, { mutant, test, runs, limitMs: LIMIT_MS });
      if (failed !== undefined) say(mutant, 'caught', `${suite} › ${failed}`);
      else if (passed > 0) say(mutant, 'survived');
      else if (late && (await runSuite(suite, { test, runs, limitMs: LIMIT_MS / ENDLESS })).passed > 0)
        say(mutant, 'hangs', suite);
      else
        say(mutant, 'undecided', late ? `${suite}, which is slow` : (broken ?? `${suite}, which has no test ${test}`));
    }
  };
  await Promise.all(Array.from({ length: workers }, breakNext));
}

function isHere(suite) {
  const folder = 'test/conformance/';
  return values.conformance === undefined ? !suite.startsWith(folder) : suite.startsWith(folder + values.conformance);
}

async function breakDrawn() {
  const { sources, mutants } = switchedCore();
  const { moduleNameMapper } = jestConfig.projects.find(({ displayName }) => displayName === 'unit');
  process.env.MUTANTS_PLAN = join(temporary, 'plan.json');
  process.env.RANDOM_RUNS = runs;
  writeFileSync(process.env.MUTANTS_PLAN, JSON.stringify({ sources, moduleNames: Object.entries(moduleNameMapper) }));

  const drawn = shuffled(mutants, numbersFrom(Number(values.seed))).slice(0, Number(values.sample));
  const chosen = drawn.filter(
    ({ rule }) => positionals.length === 0 || positionals.some((place) => rule.includes(place)),
  );
  const equivalents = new Map(
    readFileSync('test/models/mutants/equivalents.tsv', 'utf8')
      .split('\n')
      .map((line) => [line.slice(0, line.lastIndexOf('\t')), line.slice(line.lastIndexOf('\t') + 1)]),
  );
  const open = [];
  for (const mutant of chosen) {
    const reason = equivalents.get(mutant.key);
    if (reason === undefined) open.push(mutant);
    else say(mutant, reason.startsWith('estimate') ? 'estimate' : 'equivalent', reason);
  }
  const left = [];
  for (const room of new Set(open.map(roomOf))) {
    let ofRoom = open.filter((mutant) => roomOf(mutant) === room);
    for (const suites of [suitesIn(`test/unit/core/${room}`), integrationOf(room)]) {
      const rest = [];
      const keep = (mutant, outcome, by) => (CATCHES.includes(outcome) ? say(mutant, outcome, by) : rest.push(mutant));
      await judge(suites, ofRoom, workers, keep);
      ofRoom = rest;
    }
    left.push(...ofRoom);
  }
  const models = values.tier === 'models' ? suitesIn('test/models/core') : [];
  await judge([...suitesIn('test/unit/core'), ...models], left, workers, say);
}

/** The integration tests of a room that run its code in their own process. */
function integrationOf(room) {
  if (values.tier === 'unit') return [];
  return suitesIn('test/integration').filter(
    (suite) =>
      suite.startsWith(`test/integration/${room}-`) && readFileSync(suite, 'utf8').includes(`lib/core/${room}'`),
  );
}

function roomOf({ file }) {
  return file.split('/')[2];
}

function suitesIn(folder) {
  const files = readdirSync(folder, { recursive: true }).filter((file) => file.endsWith('.test.ts'));
  return files.map((file) => `${folder}/${file}`);
}

function shuffled(list, random) {
  for (let index = list.length - 1; index > 0; index--) {
    const other = Math.floor(random() * (index + 1));
    [list[index], list[other]] = [list[other], list[index]];
  }
  return list;
}

/** Numbers in [0, 1) that a seed repeats. Source: Park and Miller, the minimal standard. */
function numbersFrom(seed) {
  let state = (seed * 48_271) % 2_147_483_647;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
