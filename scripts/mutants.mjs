// Breaks the library in one place after another, and expects tests to fail each time, with a quarter of their usual random
// cases. The places are those that test/models/mutants/mutants.json names, and those of the models in models.json beside it, each
// with the test that must fail, in a conformance run where that test needs one; or some of lib/core that chance draws, with all tests of the core that reach the line, then with the
// longer ones, but for --tier unit. They are replaced while jest compiles them: no file is touched.
//
//     npm run mutants [-- --runs 0.25] [words of a rule]
//     npm run conformance keyspaces mutants [-- --runs 0.25] [words of a rule]
//     npm run mutants -- --sample 30 --seed 1 [--from 10] [--tier unit] [--runs 0.25] [places, such as planning/plan-stream.ts:24:]
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { drawMutants } from '../test/models/mutants/draw-mutants.mjs';
import { runSuite } from '../test/models/mutants/run-suite.mjs';
import { wholeRun } from '../test/models/mutants/whole-run.mjs';

/** A suite that takes so many times as long as without a mutant waits for ever. */
const ENDLESS = 5;
const SHORTEST_LIMIT_MS = 60_000;
const LONGEST_LIMIT_MS = 300_000;

const { values, positionals } = parseArgs({
  options: {
    runs: { type: 'string', default: '0.25' },
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
    from: { type: 'string', default: '1' },
    tier: { type: 'string', default: 'models' },
    workers: { type: 'string', default: '2' },
    conformance: { type: 'string' },
  },
  allowPositionals: true,
});
// A suite that is killed takes nothing away.
const temporary = mkdtempSync(join(tmpdir(), 'mutants-'));
for (const variable of ['TMPDIR', 'TMP', 'TEMP']) process.env[variable] = temporary;
process.on('exit', () => rmSync(temporary, { recursive: true, force: true }));

const words = positionals.join(' ');
const { runs } = values;
const mutants = values.sample === undefined ? listed() : drawn();
if (mutants.length === 0) throw new Error(`no rule has the words: ${words}`);

const counts = { caught: 0, 'caught by a hang': 0, survived: 0, undecided: 0 };
const waiting = mutants.values();
await Promise.all(Array.from({ length: Number(values.workers) }, breakNext));
const caught = counts.caught + counts['caught by a hang'];
const summary = Object.entries(counts).map(([verdict, count]) => `${count} ${verdict}`);
console.log(
  `Of ${mutants.length} mutants: ${summary.join(', ')}. Score: ${((100 * caught) / mutants.length).toFixed(1)} %`,
);
process.exitCode = caught === mutants.length ? 0 : 1;

async function breakNext() {
  for (const mutant of waiting) {
    const [verdict, because] = await verdictOn(mutant);
    counts[verdict] += 1;
    const about = [...(mutant.lines ?? []), because].filter(Boolean);
    console.log([`${mutant.number}. ${verdict}: ${mutant.rule}`, ...about].join('\n      '));
  }
}

/** The first suite that catches a mutant decides, the quick ones of a stage before the slow ones. */
async function verdictOn({ file, line, text, replacement, test, stages }) {
  let undecided;
  for (const stage of stages) {
    const suites = [];
    for (const suite of stage) suites.push({ suite, whole: await wholeRun(suite, runs) });
    const broken = suites.find(({ whole }) => whole.passed === undefined);
    if (broken) undecided ??= `fails without any mutant: ${broken.suite} › ${whyOf(broken.whole)}`;
    const able = suites.filter(
      ({ whole }) => whole.passed > 0 && (line === undefined || whole.lines[file]?.includes(line)),
    );
    for (const { suite, whole } of able.sort((a, b) => a.whole.ms - b.whole.ms)) {
      const limitMs = Math.min(LONGEST_LIMIT_MS, Math.max(SHORTEST_LIMIT_MS, ENDLESS * whole.ms));
      const start = performance.now();
      const outcome = await runSuite(suite, { mutant: { file, text, replacement }, test, runs, limitMs });
      if (outcome.passed > 0) continue;
      if (outcome.late && performance.now() - start >= ENDLESS * whole.ms) return ['caught by a hang', `by: ${suite}`];
      // Nothing can use what does not load, unless a test was to find it broken.
      const hasCaught = outcome.failed !== undefined || (outcome.broken !== undefined && line !== undefined);
      if (hasCaught) return ['caught', `by: ${suite} › ${whyOf(outcome)}`];
      undecided ??= outcome.late ? `slow: ${suite}` : `no test ran: ${suite} › ${outcome.broken ?? test}`;
    }
  }
  return undecided === undefined ? ['survived'] : ['undecided', undecided];
}

function whyOf({ failed, broken = 'has no end' }) {
  return failed ?? broken.split('\n')[0];
}

function listed() {
  return ['mutants', 'models']
    .flatMap((list) => JSON.parse(readFileSync(`test/models/mutants/${list}.json`, 'utf8')))
    .filter(({ rule, suite }) => rule.includes(words) && isHere(suite))
    .map(({ suite, ...mutant }, index) => ({ ...mutant, number: index + 1, stages: [[suite]] }));
}

function isHere(suite) {
  const folder = 'test/conformance/';
  return values.conformance === undefined ? !suite.startsWith(folder) : suite.startsWith(folder + values.conformance);
}

function drawn() {
  return drawMutants(numbersFrom(Number(values.seed)))
    .slice(0, Number(values.sample))
    .map((mutant, index) => ({ ...mutant, number: index + 1, stages: stagesOf(mutant.file) }))
    .filter(
      ({ number, rule }) =>
        number >= Number(values.from) && (words === '' || positionals.some((place) => rule.includes(place))),
    );
}

/**
 * The suites that may know a file: its own, those beside it, and those of its room. Then those that take longer: all of the core, the
 * models of its room, and whatever imports the file or its room.
 */
function stagesOf(file) {
  const folder = dirname(file).replace('lib/', 'test/unit/');
  const room = folder.split('/').slice(0, 4).join('/');
  const inRoom = suitesIn(room);
  const own = inRoom.filter((suite) => basename(suite) === `${basename(file, '.ts')}.test.ts`);
  const names = [file.replace('.ts', "'"), `lib/core/${basename(room)}'`];
  const imports = (suite) => names.some((name) => readFileSync(suite, 'utf8').includes(name));
  const stages = [own, suitesIn(folder), inRoom];
  if (values.tier !== 'unit') {
    const importing = ['test/unit', 'test/models', 'test/integration'].flatMap(suitesIn).filter(imports);
    stages.push(suitesIn('test/unit/core'), [...suitesIn(room.replace('unit', 'models')), ...importing]);
  }
  const seen = new Set();
  return stages.map((suites) => suites.filter((suite) => !seen.has(suite) && seen.add(suite)));
}

function suitesIn(folder) {
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder, { recursive: true }).filter((file) => file.endsWith('.test.ts'));
  return files.map((file) => `${folder}/${file}`);
}

/** Numbers in [0, 1) that a seed repeats. Source: Park and Miller, the minimal standard. */
function numbersFrom(seed) {
  let state = (seed * 48_271) % 2_147_483_647;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
