// Explores every schedule of the scenarios of test/exhaustive, up to a bound.
//
//     npm run exhaustive [-- --bound test] [-- --runs 20000] [words of a scenario]
//     npm run exhaustive -- --mutants [words of a rule]
//
// With --mutants it breaks the library in one place after another, as test/exhaustive/mutants.json says, and expects the
// named scenario to find the named promise broken. The places are replaced while esbuild reads them: no file is touched.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';

const { values, positionals } = parseArgs({
  options: {
    bound: { type: 'string', default: 'full' },
    runs: { type: 'string', default: '0' },
    mutants: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
const words = positionals.join(' ');
const folder = mkdtempSync(join(tmpdir(), 'exhaustive-'));
try {
  process.exitCode = (values.mutants ? await killMutants() : await exploreAll()) ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true });
}

async function exploreAll() {
  const program = await bundled();
  const [start, totals] = [performance.now(), { scenarios: 0, schedules: 0, broken: 0 }];
  for await (const { name, runs, pruned, depth, isComplete, seconds, broken } of explored(program, words)) {
    const end = isComplete ? 'complete' : 'ended at its bound';
    console.log(`${name}: ${runs} schedules, ${pruned} left out, ${depth} deep, ${end}, ${seconds} s`);
    if (broken) console.log(`BROKEN: ${broken.promise}\n\n${broken.test}\n`);
    totals.scenarios += 1;
    totals.schedules += runs;
    totals.broken += broken ? 1 : 0;
  }
  const seconds = Math.round((performance.now() - start) / 1_000);
  console.log(`${totals.scenarios} scenarios, ${totals.schedules} schedules, ${totals.broken} broken, ${seconds} s`);
  return totals.scenarios > 0 && totals.broken === 0;
}

async function killMutants() {
  const mutants = JSON.parse(readFileSync('test/exhaustive/mutants.json', 'utf8'));
  let survivors = 0;
  for (const mutant of mutants.filter(({ rule }) => rule.includes(words))) {
    const { rule, scenario, promise } = mutant;
    let found = 'nothing';
    let schedules = 0;
    for await (const { name, runs, broken } of explored(await bundled(mutant), scenario)) {
      if (name !== scenario) continue;
      schedules = runs;
      found = broken?.promise ?? found;
    }
    const isKilled = found === promise;
    survivors += isKilled ? 0 : 1;
    console.log(`${isKilled ? 'killed  ' : 'SURVIVED'}  ${rule}`);
    console.log(`          ${scenario}: ${isKilled ? promise : `${found}, not: ${promise}`}, ${schedules} schedules`);
  }
  console.log(`${survivors} survived`);
  return survivors === 0;
}

/** What each scenario with these words came to. */
async function* explored(program, scenario) {
  const child = spawn(process.execPath, [program, values.mutants ? 'mutant' : values.bound, values.runs, scenario], {
    stdio: ['ignore', 'pipe', values.mutants ? 'ignore' : 'inherit'],
  });
  const ended = once(child, 'close');
  for await (const line of createInterface({ input: child.stdout })) yield JSON.parse(line);
  const [status] = await ended;
  if (status !== 0) throw new Error(`exploring ended with ${status}`);
}

/** The program, with a mutant in place or with none. */
async function bundled(mutant) {
  const outfile = join(folder, 'main.js');
  await build({
    entryPoints: ['test/exhaustive/main.ts'],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    logLevel: 'warning',
    plugins: mutant ? [{ name: 'mutant', setup: (setUp) => mutate(setUp, mutant) }] : [],
  });
  return outfile;
}

function mutate(setUp, { file, text, replacement }) {
  setUp.onLoad({ filter: /\.ts$/ }, ({ path }) => {
    if (path !== resolve(file)) return undefined;
    const source = readFileSync(path, 'utf8');
    if (source.split(text).length !== 2) throw new Error(`${file} does not hold exactly once: ${text}`);
    return { contents: source.replace(text, () => replacement), loader: 'ts' };
  });
}
