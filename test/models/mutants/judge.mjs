import { fork } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const HOST = join(import.meta.dirname, 'suite-host.cjs');
/** A test counts as hanging if it takes more than this multiple of its time without a mutant, plus some seconds. */
const ENDLESS = 10;
const PAUSE_MS = 3_000;
const WHOLE_MS = 1_800_000;
const GRACE_MS = 5_000;

/**
 * Runs the tests of some suites against mutants of the core (see `switchedCore`). For each mutant, runs the tests that reach its
 * code, the fastest test first.
 *
 * @param {string[]} suites the files of the suites
 * @param {{ number: number }[]} mutants the mutants, each with the number of its switch
 * @param {number} workers the number of processes
 * @param {(mutant: object, outcome: string, by?: string) => void} onOutcome called with each mutant and its outcome: caught, hangs,
 * ends (its process), survived, unreached, or undecided if its test also fails without the mutant
 */
export async function judge(suites, mutants, workers, onOutcome) {
  if (mutants.length === 0) return;
  const { testsOf, isConstant } = await baseline(suites);
  const waiting = mutants.values();
  const runMutants = async () => {
    let host;
    for (const mutant of waiting) {
      const { number } = mutant;
      const tests = testsOf(number);
      if (tests.length === 0) {
        onOutcome(mutant, 'unreached');
        continue;
      }
      if (isConstant(number)) host = await host?.end();
      host ??= await startHost(suites, isConstant(number) ? number : undefined);
      let verdict = await host.verdictOn(number, tests);
      if (verdict.outcome === 'undecided' && !isConstant(number)) {
        // An earlier mutant may have changed the state of the process.
        await host.end();
        host = await startHost(suites);
        verdict = await host.verdictOn(number, tests);
      }
      if (isConstant(number) || !['caught', 'survived'].includes(verdict.outcome)) host = await host.end();
      onOutcome(mutant, verdict.outcome, verdict.by);
    }
    await host?.end();
  };
  await Promise.all(Array.from({ length: workers }, runMutants));
}

/** Returns the tests that reach a mutant in a run without mutants, and whether a mutant is in code that runs only when a file is loaded. */
async function baseline(suites) {
  const host = await startHost(suites);
  if (host.reached === undefined) throw new Error(`the suites do not load without a mutant: ${host.problem}`);
  const { runs } = await host.send({ baseline: true }, WHOLE_MS);
  await host.end();
  for (const { name, failure } of runs)
    if (failure) console.log(`skipped, because it fails without a mutant: ${name}: ${failure}`);
  const constants = new Set(host.reached);
  const quickFirst = runs
    .map(({ ms, reached, failure }, index) => ({ index, ms, failure, reached: new Set(reached) }))
    .filter(({ failure }) => failure === undefined)
    .sort((a, b) => a.ms - b.ms);
  const isConstant = (number) => constants.has(number);
  const testsOf = (number) =>
    quickFirst
      .filter(({ reached }) => isConstant(number) || reached.has(number))
      .map(({ index, ms }) => ({ index, limitMs: PAUSE_MS + ENDLESS * ms }));
  return { testsOf, isConstant };
}

/** Starts a process that loads the suites, optionally with a mutant in code that runs when a file is loaded. */
async function startHost(suites, constant = -1) {
  const child = fork(HOST, {
    env: { ...process.env, MUTANT: String(constant) },
    execArgv: ['--max-old-space-size=4000'],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    // Starts a process group, so that a signal also ends the processes that the tests start.
    detached: true,
  });
  /** Returns whether the process, or a process of its tests, was still running. */
  const signal = (name) => {
    try {
      return process.kill(-child.pid, name);
    } catch {
      return false;
    }
  };
  const kill = () => signal('SIGKILL');
  process.prependListener('exit', kill);
  /** Lets processes of the tests end by themselves, because a killed Postgres server would leave shared memory behind. */
  const end = async () => {
    child.kill('SIGKILL');
    for (let waitedMs = 0; waitedMs < GRACE_MS && signal(0); waitedMs += 20) await sleep(20);
    kill();
    process.off('exit', kill);
  };
  const send = (message, limitMs) =>
    new Promise((resolve) => {
      let timer;
      const settle = (answer) => {
        clearTimeout(timer);
        child.removeAllListeners();
        resolve(answer);
      };
      const settleAfter = (ms) => {
        clearTimeout(timer);
        timer = setTimeout(() => settle({ outcome: 'hangs' }), ms);
      };
      // An endless test cannot report its own timeout.
      child.on('message', (answer) =>
        answer.limitMs === undefined ? settle(answer) : settleAfter(answer.limitMs + PAUSE_MS),
      );
      child.on('exit', () => settle({ outcome: 'ends' }));
      settleAfter(limitMs);
      child.send(message);
    });
  const loaded = await send({ suites }, WHOLE_MS);
  return {
    send,
    reached: loaded.reached,
    problem: loaded.by ?? loaded.outcome,
    verdictOn: (number, tests) => (loaded.outcome === undefined ? send({ number, tests }, PAUSE_MS) : loaded),
    end,
  };
}
