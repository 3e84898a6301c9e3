// Explores every schedule of the scenarios of test/models/exhaustive, up to a bound.
//
//     npm run exhaustive [-- --bound test] [-- --runs 20000] [-- --update] [words of a scenario]
//     npm run exhaustive -- --reached
//     npm run exhaustive -- --mutants [--at-most 100] [--update] [words of a rule]
//
// The words select the scenarios or rules whose name contains them.
//
// --update writes the number of explored schedules of each scenario into test/models/exhaustive/reached.json, and into
// the table of the README. --reached only compares reached.json with the table.
//
// --mutants applies each rule mutant of test/models/exhaustive/mutants.json, one at a time. The scenario of the mutant
// must then report the broken promise after the number of schedules in the list. esbuild bundles the changed text, so
// no source file changes. The table of the README must match the list. --at-most leaves out mutants that need more
// schedules. --update writes the numbers into the list and the table.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { inWords, mutated } from '../test/models/mutants/rule-mutant.mjs';
import './sql-module.mjs';

const { values, positionals } = parseArgs({
  options: {
    bound: { type: 'string', default: 'full' },
    runs: { type: 'string', default: '0' },
    mutants: { type: 'boolean', default: false },
    'at-most': { type: 'string', default: 'Infinity' },
    update: { type: 'boolean', default: false },
    reached: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
const REACHED_TABLE = /^\| scenarios \|.*\n(?:\|.*\n)+/m;
const words = positionals.join(' ');
const LIST = 'test/models/exhaustive/mutants.json';
const REACHED = 'test/models/exhaustive/reached.json';
const TABLES = 'test/models/exhaustive/README.md';
const folder = mkdtempSync(join(tmpdir(), 'exhaustive-'));
try {
  const isAsExpected = values.reached ? holdReached() : await (values.mutants ? killMutants() : exploreAll());
  process.exitCode = isAsExpected ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true });
}

async function exploreAll() {
  const program = await bundled();
  const [start, totals] = [performance.now(), { scenarios: 0, schedules: 0, broken: 0 }];
  for await (const { name, runs, pruned, covered, depth, isComplete, seconds, broken } of explored(program, words)) {
    const end = isComplete ? 'complete' : 'ended at its bound';
    const played = `${runs} complete runs and ${pruned} shortened runs are equivalent to ${covered} schedules`;
    console.log(`${name}: ${played}, ${depth} deep, ${end}, ${seconds} s`);
    if (broken) console.log(`BROKEN: ${broken.promise}\n\n${broken.test}\n`);
    totals.scenarios += 1;
    totals.schedules += runs;
    totals.broken += broken ? 1 : 0;
    if (values.update) noteReached(name, { schedules: runs + pruned, standFor: covered, isComplete });
  }
  const seconds = Math.round((performance.now() - start) / 1_000);
  console.log(`${totals.scenarios} scenarios, ${totals.schedules} schedules, ${totals.broken} broken, ${seconds} s`);
  return totals.scenarios > 0 && totals.broken === 0;
}

/** Writes the number of explored schedules of each scenario into the file, and updates the table. */
function noteReached(name, came) {
  const reached = { ...JSON.parse(readFileSync(REACHED, 'utf8')), [name]: came };
  // Removes the plus sign of exponents, as the formatter does.
  writeFileSync(REACHED, `${JSON.stringify(reached, null, 2).replaceAll('e+', 'e')}\n`);
  const tables = readFileSync(TABLES, 'utf8');
  writeFileSync(
    TABLES,
    tables.replace(REACHED_TABLE, () => reachedTable(reached)),
  );
}

/** Whether the table of the README matches the list. */
function holdReached() {
  const [table] = readFileSync(TABLES, 'utf8').match(REACHED_TABLE);
  const isRight = table === reachedTable(JSON.parse(readFileSync(REACHED, 'utf8')));
  console.log(isRight ? '0 wrong' : `the table of ${TABLES} is not that of ${REACHED}: run it with --update`);
  return isRight;
}

/** Returns the table. The table has a row for each domain, which is the first part of a scenario's name. */
function reachedTable(reached) {
  const domains = new Set(Object.keys(reached).map((name) => name.split(', ')[0]));
  const rows = [...domains].map((domain) => {
    const scenarios = Object.entries(reached).filter(([name]) => name.startsWith(`${domain}, `));
    const [complete, others] = [true, false].map((end) => scenarios.filter(([, came]) => came.isComplete === end));
    const standFor = complete.reduce((sum, [, came]) => sum + came.standFor, 0);
    const left = others.map(
      ([name, came]) =>
        `${name.slice(domain.length + 2)}: after ${inDigits(came.schedules)} runs, which are equivalent to ${inDigits(came.standFor)} schedules`,
    );
    const ends = `${complete.length} of ${scenarios.length}`;
    return `| ${domain} | ${ends} | ${complete.length > 0 ? inDigits(standFor) : ''} | ${left.join('; ')} |\n`;
  });
  return `| scenarios | completely explored | schedules that the runs cover, including equivalent schedules | stopped at the limit of runs |\n| --- | ---: | ---: | --- |\n${rows.join('')}`;
}

/** All digits of a number, or three digits if it is larger than a million million. */
function inDigits(number) {
  if (number < 1e12) return number.toLocaleString('en');
  const [digits, exponent] = number.toExponential(2).split('e+');
  return `${digits} × 10^${exponent}`;
}

async function killMutants() {
  const mutants = JSON.parse(readFileSync(LIST, 'utf8'));
  let wrong = 0;
  for (const mutant of mutants.filter(
    ({ rule, schedules = 0 }) => rule.includes(words) && schedules <= values['at-most'],
  )) {
    const { rule, scenario, promise, schedules: expected } = mutant;
    const { found, schedules } = await kill(mutant);
    const isKilled = found === promise;
    if (values.update) mutant.schedules = schedules;
    const isRight = isKilled && mutant.schedules === schedules;
    wrong += isRight ? 0 : 1;
    console.log(`${isKilled ? 'killed  ' : 'SURVIVED'}  ${rule}`);
    const saidOtherwise = isRight ? '' : `, and not ${expected}`;
    console.log(
      `          ${scenario}: ${isKilled ? promise : `${found}, not: ${promise}`}, ${schedules} schedules${saidOtherwise}`,
    );
  }
  const table = tableOf(mutants);
  const tables = readFileSync(TABLES, 'utf8');
  const [before] = tables.match(/^\| rule \|.*\n(?:\|.*\n)+/m);
  if (values.update) {
    writeFileSync(LIST, `${JSON.stringify(mutants, null, 2)}\n`);
    writeFileSync(
      TABLES,
      tables.replace(before, () => table),
    );
  } else if (before !== table) {
    wrong += 1;
    console.log(`the table of ${TABLES} is not that of ${LIST}: run it with --update`);
  }
  console.log(`${wrong} wrong`);
  return wrong === 0;
}

/**
 * Explores the scenario of a mutant. Returns the broken promise that the scenario finds, and the number of schedules
 * until then.
 */
async function kill(mutant) {
  for await (const { name, runs, broken } of explored(await bundled(mutant), mutant.scenario)) {
    if (name === mutant.scenario) return { found: broken?.promise ?? 'nothing', schedules: runs };
  }
  throw new Error(`there is no scenario ${mutant.scenario}`);
}

function tableOf(mutants) {
  const rows = mutants.map((mutant) => {
    const { rule, decision, scenario, promise, schedules } = mutant;
    return `| ${rule} | ${decision} | ${inWords(mutant)} | ${scenario} | ${promise} | ${schedules?.toLocaleString('en')} |\n`;
  });
  return `| rule | decision | mutant | scenario | promise | schedules |\n| --- | --- | --- | --- | --- | ---: |\n${rows.join('')}`;
}

/** Yields the result of each scenario whose name contains these words. */
async function* explored(program, scenario) {
  const child = spawn(process.execPath, [program, values.mutants ? 'mutant' : values.bound, values.runs, scenario], {
    stdio: ['ignore', 'pipe', values.mutants ? 'ignore' : 'inherit'],
  });
  const ended = once(child, 'close');
  try {
    for await (const line of createInterface({ input: child.stdout })) yield JSON.parse(line);
  } finally {
    // If the caller stops before the last result, ends the program.
    if (child.stdout.readable) child.kill();
  }
  const [status] = await ended;
  if (status !== 0) throw new Error(`the explorer ended with exit code ${status}`);
}

/** Bundles the program, with or without a mutant. */
async function bundled(mutant) {
  const outfile = join(folder, 'main.js');
  await build({
    entryPoints: ['test/models/exhaustive/main.ts'],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    logLevel: 'warning',
    plugins: mutant ? [{ name: 'mutant', setup: (setUp) => mutate(setUp, mutant) }] : [],
  });
  return outfile;
}

function mutate(setUp, mutant) {
  const contents = mutated(mutant);
  setUp.onLoad({ filter: /\.ts$/ }, ({ path }) =>
    path === resolve(mutant.file) ? { contents, loader: 'ts' } : undefined,
  );
}
