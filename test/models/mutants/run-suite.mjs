import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import jestConfig from '../../../jest.config.mjs';

const unit = jestConfig.projects.find(({ displayName }) => displayName === 'unit');
const [[pattern, [, swc]]] = Object.entries(unit.transform);

/**
 * Runs a suite up to its first failing test, optionally with a mutated module.
 *
 * @returns `passed` with the tests of the suite, `failed` with the failing test, `broken` with the cause, or `late`
 */
export async function runSuite(suite, { module = {}, test = '', runs, limitMs }) {
  const transform = { [pattern]: ['<rootDir>/test/models/mutants/mutating-transform.mjs', { swc, ...module }] };
  const config = JSON.stringify({
    ...unit,
    testMatch: ['<rootDir>/test/**/*.test.ts'],
    rootDir: process.cwd(),
    transform,
  });
  const jest = ['node_modules/jest/bin/jest.js', '--config', config, '--runInBand', '--testNamePattern', test];
  const reporter = ['--reporters', '<rootDir>/test/models/mutants/first-failure.mjs'];
  // Only the limit of the suite applies, because a busy machine would exceed the timeouts of jest.
  const child = spawn(
    process.execPath,
    [...jest, ...reporter, '--testTimeout', String(limitMs), '--runTestsByPath', suite],
    {
      env: { ...process.env, RANDOM_RUNS: runs },
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: limitMs,
      // An endless loop handles no other signal.
      killSignal: 'SIGKILL',
    },
  );
  const [output, [, signal]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  if (signal === 'SIGKILL') return { late: true };
  const outcome = output.split('\n').findLast((line) => line.startsWith('{"'));
  // Asynchronous work that a test leaves running can end the process of jest before it reports the outcome.
  return outcome === undefined ? { broken: 'jest ended without a report' } : JSON.parse(outcome);
}
