import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { runSuite } from './run-suite.mjs';

const CACHE = 'node_modules/.cache/mutants';
const LONGEST_MS = 900_000;
const runsSoFar = new Map();

/**
 * What a suite does without any mutant: its time, its outcome, and the lines that it reaches of each file. It is known until
 * the suite or the library changes.
 */
export function wholeRun(suite, runs) {
  if (!runsSoFar.has(suite)) runsSoFar.set(suite, keptRun(suite, runs) ?? newRun(suite, runs));
  return runsSoFar.get(suite);
}

async function newRun(suite, runs) {
  const coverageFolder = `${placeOf(suite, runs)}.coverage`;
  const args = ['--coverage', '--coverageProvider', 'v8', '--coverageReporters', 'json'];
  const start = performance.now();
  const outcome = await runSuite(suite, {
    runs,
    limitMs: LONGEST_MS,
    args: [...args, '--coverageDirectory', coverageFolder],
  });
  const ms = Math.round(performance.now() - start);
  const run = { ...outcome, ms, lines: outcome.passed ? linesIn(join(coverageFolder, 'coverage-final.json')) : {} };
  rmSync(coverageFolder, { recursive: true, force: true });
  mkdirSync(CACHE, { recursive: true });
  if (outcome.passed) writeFileSync(placeOf(suite, runs), JSON.stringify(run));
  return run;
}

function linesIn(report) {
  const files = Object.values(JSON.parse(readFileSync(report, 'utf8')));
  const reached = ({ s, statementMap }) =>
    Object.keys(s).flatMap((each) => (s[each] > 0 ? [statementMap[each].start.line] : []));
  return Object.fromEntries(files.map((file) => [relative(process.cwd(), file.path), reached(file)]));
}

function keptRun(suite, runs) {
  const kept = statSync(placeOf(suite, runs), { throwIfNoEntry: false });
  if (kept === undefined || changed() > kept.mtimeMs || statSync(suite).mtimeMs > kept.mtimeMs) return undefined;
  return JSON.parse(readFileSync(placeOf(suite, runs), 'utf8'));
}

const placeOf = (suite, runs) => join(CACHE, `${suite.replaceAll('/', '.')}.${runs}.json`);

/** When the library, or what its tests share, was changed. */
function changed() {
  const files = ['lib', 'test/support'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true }),
  );
  return Math.max(
    ...files.filter((file) => file.isFile()).map((file) => statSync(join(file.parentPath, file.name)).mtimeMs),
  );
}
