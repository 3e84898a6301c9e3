import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import jestConfig from '../../../jest.config.mjs';

const unit = jestConfig.projects.find(({ displayName }) => displayName === 'unit');
const [[pattern, [, swc]]] = Object.entries(unit.transform);

/**
 * Runs a suite to its first test that fails, with a mutated module in place or with none.
 *
 * @returns how it ended: the tests that `passed`, or the one that `failed`, or why it is `broken`, or that it is `late`
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
  // The limit of the suite is the only one: a busy machine would catch mutants by jest's.
  const child = spawn(
    process.execPath,
    [...jest, ...reporter, '--testTimeout', String(limitMs), '--runTestsByPath', suite],
    {
      env: { ...process.env, RANDOM_RUNS: runs },
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: limitMs,
      // An endless loop hears no other signal.
      killSignal: 'SIGKILL',
    },
  );
  const [said, [, signal]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  if (signal === 'SIGKILL') return { late: true };
  const outcome = said.split('\n').findLast((line) => line.startsWith('{"'));
  // What a test leaves undone can end jest itself.
  return outcome === undefined ? { broken: 'jest ended without a report' } : JSON.parse(outcome);
}
