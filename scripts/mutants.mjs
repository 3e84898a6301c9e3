// Breaks the library in one place after another, and expects tests to fail each time, with a quarter of their usual random
// cases. The places are those that test/models/mutants/mutants.json names, and those of the models in models.json beside it, each
// with the test that must fail; or some of lib/core that chance draws, with all tests of the core that reach the line, and at last
// with the long ones of its room. They are replaced while jest compiles them: no file is touched.
//
//     npm run mutants [-- --runs 0.25] [words of a rule]
//     npm run mutants -- --sample 30 --seed 1 [--from 10] [--tier unit] [--runs 0.25] [words of a place, such as planning/plan-stream.ts:24]
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
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
    from: { type: 'string', default: '0' },
    tier: { type: 'string', default: 'models' },
    workers: { type: 'string', default: '2' },
  },
  allowPositionals: true,
});
const words = positionals.join(' ');
const { runs } = values;
const mutants = values.sample === undefined ? listed() : drawn();
if (mutants.length === 0) throw new Error(`no rule has the words: ${words}`);

const counts = { caught: 0, 'caught by a hang': 0, survived: 0, undecided: 0 };
const waiting = mutants.entries();
await Promise.all(Array.from({ length: Number(values.workers) }, breakNext));
const caught = counts.caught + counts['caught by a hang'];
const summary = Object.entries(counts).map(([verdict, count]) => `${count} ${verdict}`);
console.log(
  `Of ${mutants.length} mutants: ${summary.join(', ')}. Score: ${((100 * caught) / mutants.length).toFixed(1)} %`,
);
process.exitCode = caught === mutants.length ? 0 : 1;

async function breakNext() {
  for (const [index, mutant] of waiting) {
    const [verdict, because] = await verdictOn(mutant);
    counts[verdict] += 1;
    console.log(
      [`${index + 1}. ${verdict}: ${mutant.rule}`, ...(mutant.lines ?? []), because].filter(Boolean).join('\n      '),
    );
  }
}

async function verdictOn({ file, line, text, replacement, test, suites }) {
  let undecided;
  for (const suite of suites) {
    const whole = await wholeRun(suite, runs);
    if (whole.passed === undefined) {
      undecided ??= `fails without any mutant: ${suite} › ${whole.failed ?? whole.broken ?? 'it has no end'}`;
      continue;
    }
    if (line !== undefined && !whole.lines[file]?.includes(line)) continue;
    const endlessMs = Math.max(SHORTEST_LIMIT_MS, ENDLESS * whole.ms);
    const limitMs = Math.min(LONGEST_LIMIT_MS, endlessMs);
    const outcome = await runSuite(suite, { mutant: { file, text, replacement }, test, runs, limitMs });
    if (outcome.late && limitMs === endlessMs) return ['caught by a hang', `by: ${suite}`];
    if (outcome.late) undecided ??= `slow: ${suite}`;
    else if (outcome.failed !== undefined) return ['caught', `by: ${suite} › ${outcome.failed}`];
    // Nothing can use what does not load. A rule that is named is to be found broken by a test.
    else if (outcome.broken !== undefined && line !== undefined)
      return ['caught', `by: ${suite}: ${outcome.broken.split('\n')[0]}`];
    else if (outcome.broken !== undefined || outcome.passed === 0)
      undecided ??= `no test of ${suite} ran: ${outcome.broken ?? test}`;
  }
  return undecided === undefined ? ['survived'] : ['undecided', undecided];
}

function listed() {
  return ['mutants', 'models']
    .flatMap((list) => JSON.parse(readFileSync(`test/models/mutants/${list}.json`, 'utf8')))
    .filter(({ rule }) => rule.includes(words))
    .map(({ suite, ...mutant }) => ({ ...mutant, suites: [suite] }));
}

function drawn() {
  return drawMutants(numbersFrom(Number(values.seed)))
    .filter(({ rule }) => rule.includes(words))
    .slice(Number(values.from), Number(values.sample))
    .map((mutant) => ({ ...mutant, suites: suitesOf(mutant.file) }));
}

/** The suites that may know a file: its own, those beside it, those of its room, all of the core, and the long ones of its room. */
function suitesOf(file) {
  const folder = dirname(file).replace('lib/', 'test/unit/');
  const room = folder.split('/').slice(0, 4).join('/');
  const folders = [folder, room, 'test/unit/core', ...(values.tier === 'unit' ? [] : [room.replace('unit', 'models')])];
  const suites = [...new Set(folders.flatMap(suitesIn))];
  const isOwn = (suite) => basename(suite) === `${basename(file, '.ts')}.test.ts`;
  return [...suites.filter(isOwn), ...suites.filter((suite) => !isOwn(suite))];
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
