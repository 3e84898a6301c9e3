import { fork } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const HOST = join(import.meta.dirname, 'suite-host.cjs');
/** A test that takes so many times as long as without a mutant, and some seconds more, waits for ever. */
const ENDLESS = 10;
const PAUSE_MS = 3_000;
const WHOLE_MS = 1_800_000;
const GRACE_MS = 5_000;

/**
 * Lets the tests of some suites look for mutants of the switched core. Each mutant meets the tests that reach it, the quick ones first.
 *
 * @param {string[]} suites their files
 * @param {{ number: number }[]} mutants which of the switches
 * @param {number} workers how many processes look
 * @param {(mutant: object, outcome: string, by?: string) => void} say hears of each mutant: it is caught, or hangs a test, or
 *   ends its process, or survived, or is unreached, or undecided, because its test fails without it as well
 */
export async function judge(suites, mutants, workers, say) {
  if (mutants.length === 0) return;
  const { testsOf, isConstant } = await baseline(suites);
  const waiting = mutants.values();
  const lookForNext = async () => {
    let host;
    for (const mutant of waiting) {
      const { number } = mutant;
      const tests = testsOf(number);
      if (tests.length === 0) {
        say(mutant, 'unreached');
        continue;
      }
      if (isConstant(number)) host = await host?.end();
      host ??= await startHost(suites, isConstant(number) ? number : undefined);
      let verdict = await host.verdictOn(number, tests);
      if (verdict.outcome === 'undecided' && !isConstant(number)) {
        // An earlier mutant may have left something behind.
        await host.end();
        host = await startHost(suites);
        verdict = await host.verdictOn(number, tests);
      }
      if (isConstant(number) || !['caught', 'survived'].includes(verdict.outcome)) host = await host.end();
      say(mutant, verdict.outcome, verdict.by);
    }
    await host?.end();
  };
  await Promise.all(Array.from({ length: workers }, lookForNext));
}

/** Which tests reach a mutant, as they run without any, and whether it is in what is computed only when a file is loaded. */
async function baseline(suites) {
  const host = await startHost(suites);
  if (host.reached === undefined) throw new Error(`the suites do not load without a mutant: ${host.problem}`);
  const { runs } = await host.ask({ baseline: true }, WHOLE_MS);
  await host.end();
  for (const { name, failure } of runs)
    if (failure) console.log(`left out, since it fails without a mutant: ${name}: ${failure}`);
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

/** A process that has loaded some suites, with a mutant of what is computed meanwhile. */
async function startHost(suites, constant = -1) {
  const child = fork(HOST, {
    env: { ...process.env, MUTANT: String(constant) },
    execArgv: ['--max-old-space-size=4000'],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    // What its tests have started ends with it.
    detached: true,
  });
  /** Returns whether the process, or one that its tests have started, was still there. */
  const signal = (name) => {
    try {
      return process.kill(-child.pid, name);
    } catch {
      return false;
    }
  };
  const kill = () => signal('SIGKILL');
  process.prependListener('exit', kill);
  /** What its tests have started hears that it is gone: a killed server of Postgres would leave some of the system's memory behind. */
  const end = async () => {
    child.kill('SIGKILL');
    for (let waitedMs = 0; waitedMs < GRACE_MS && signal(0); waitedMs += 20) await sleep(20);
    kill();
    process.off('exit', kill);
  };
  const ask = (message, limitMs) =>
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
      // A test that loops hears of no limit of its own.
      child.on('message', (answer) =>
        answer.limitMs === undefined ? settle(answer) : settleAfter(answer.limitMs + PAUSE_MS),
      );
      child.on('exit', () => settle({ outcome: 'ends' }));
      settleAfter(limitMs);
      child.send(message);
    });
  const loaded = await ask({ suites }, WHOLE_MS);
  return {
    ask,
    reached: loaded.reached,
    problem: loaded.by ?? loaded.outcome,
    verdictOn: (number, tests) => (loaded.outcome === undefined ? ask({ number, tests }, PAUSE_MS) : loaded),
    end,
  };
}
