// Breaks one rule of the library after another. The test that the list names for the rule must then fail, with a
// quarter of its usual random cases. Jest compiles the changed text, so no source file changes.
//
//     npm run rule-mutants [-- --runs 0.25] [words of a rule]
//     npm run rule-mutants -- --places
//     npm run rule-mutants -- --changes lib/core/producer/lanes.ts [Lanes.fail]
//
// --places only checks that the code to change occurs exactly once for each rule mutant, also for the mutants of `npm
// run exhaustive -- --mutants`. --changes prints the possible changes of a module or of one of its functions.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { changesOf } from '../test/models/mutants/changes.mjs';
import { inWords, mutated } from '../test/models/mutants/rule-mutant.mjs';
import { runSuite } from '../test/models/mutants/run-suite.mjs';
import './sql-module.mjs';

const LISTS = ['test/models/mutants/mutants.json', 'test/models/exhaustive/mutants.json'];
const LIMIT_MS = 300_000;
/** If a suite takes this many times as long as without a mutant, the script treats the suite as hanging. */
const ENDLESS = 5;

const { values, positionals } = parseArgs({
  options: {
    runs: { type: 'string', default: '0.25' },
    workers: { type: 'string', default: '2' },
    places: { type: 'boolean', default: false },
    changes: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
if (values.changes) printChanges(...positionals);
else process.exitCode = (values.places ? findPlaces() : await breakRules()) === 0 ? 0 : 1;

function printChanges(file, owner) {
  const changes = changesOf(readFileSync(file, 'utf8')).filter(
    (each) => owner === undefined || each.function === owner,
  );
  for (const change of changes) {
    const isOnly = !changes.some(
      (other) => other !== change && inWords({ ...other, nth: change.nth }) === inWords(change),
    );
    const words = inWords({ ...change, nth: isOnly ? undefined : change.nth });
    console.log(`${words}: ${oneLine(change.node.getText())} -> ${oneLine(change.text)}`);
  }
}

function oneLine(text) {
  return text.replaceAll(/\s+/g, ' ').slice(0, 100);
}

/** Prints the mutants whose code to change occurs never or several times, and returns the number of these mutants. */
function findPlaces() {
  let wrong = 0;
  for (const mutant of LISTS.flatMap((list) => JSON.parse(readFileSync(list, 'utf8')))) {
    try {
      mutated(mutant);
    } catch (error) {
      wrong += 1;
      console.log(`${mutant.rule}\n      ${error.message}`);
    }
  }
  console.log(`${wrong} wrong`);
  return wrong;
}

/** Runs the test of each mutant, and returns the number of mutants that no test caught. */
async function breakRules() {
  const words = positionals.join(' ');
  const mutants = JSON.parse(readFileSync(LISTS[0], 'utf8')).filter(({ rule }) => rule.includes(words));
  if (mutants.length === 0) throw new Error(`no rule has the words: ${words}`);
  let missed = 0;
  const waiting = mutants.values();
  const breakNext = async () => {
    for (const mutant of waiting) {
      const { outcome, by } = await outcomeOf(mutant);
      if (!['caught', 'hangs'].includes(outcome)) missed += 1;
      console.log(`${outcome}: ${mutant.rule}\n      ${inWords(mutant)}\n      ${by}`);
    }
  };
  await Promise.all(Array.from({ length: Number(values.workers) }, breakNext));
  console.log(`${mutants.length} mutants, ${missed} not caught`);
  return missed;
}

async function outcomeOf(mutant) {
  const { suite, test, file } = mutant;
  const { runs } = values;
  const module = { file, contents: mutated(mutant) };
  const { passed, failed, late, broken } = await runSuite(suite, { module, test, runs, limitMs: LIMIT_MS });
  if (failed !== undefined) return { outcome: 'caught', by: `${suite} › ${failed}` };
  if (passed > 0) return { outcome: 'survived', by: suite };
  if (late && (await runSuite(suite, { test, runs, limitMs: LIMIT_MS / ENDLESS })).passed > 0)
    return { outcome: 'hangs', by: suite };
  return {
    outcome: 'undecided',
    by: late ? `${suite}, which is slow` : (broken ?? `${suite}, which has no test ${test}`),
  };
}
