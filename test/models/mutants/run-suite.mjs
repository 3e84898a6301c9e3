import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import jestConfig from '../../../jest.config.mjs';

const unit = jestConfig.projects.find(({ displayName }) => displayName === 'unit');
const [[pattern, [, swc]]] = Object.entries(unit.transform);

/**
 * Runs a suite to its first test that fails, with a mutant in place or with none.
 *
 * @returns how it ended: the tests that `passed`, or the one that `failed`, or why it is `broken`, or that it is `late`
 */
export async function runSuite(suite, { mutant = {}, test = '', runs, limitMs, args = [] }) {
  const transform = { [pattern]: ['<rootDir>/test/models/mutants/mutating-transform.mjs', { swc, ...mutant }] };
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
    [...jest, ...reporter, '--testTimeout', String(limitMs), ...args, '--runTestsByPath', suite],
    {
      env: { ...process.env, RANDOM_RUNS: runs, ...(mutant.file?.endsWith('.py') && mutatedEmulator(mutant)) },
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

/** A copy of the emulator of CloudFormation, which jest does not compile, with one text of one file replaced. */
function mutatedEmulator({ file, text, replacement }) {
  const folder = mkdtempSync(join(tmpdir(), 'mutated-emulator-'));
  const copy = join(folder, basename(dirname(file)));
  cpSync(dirname(file), copy, { recursive: true });
  const source = readFileSync(file, 'utf8').replace(text, () => replacement);
  writeFileSync(join(copy, basename(file)), source);
  return { EMULATOR_FOLDER: folder };
}
