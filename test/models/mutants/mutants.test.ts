import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import mutants from './mutants.json';

function ruleMutants(...options: string[]): string {
  return spawnSync(process.execPath, ['scripts/rule-mutants.mjs', ...options], { encoding: 'utf8' }).stdout;
}

test('each rule mutant matches exactly one place in the code', () => {
  expect(ruleMutants('--places')).toBe('0 wrong\n');
}, 60_000);

test.each(mutants)('each rule mutant has an existing suite: $rule', ({ suite }) => {
  expect(existsSync(suite)).toBe(true);
});

const CHANGES = [
  ['send(lane);', 'leave out the statement, `send`: send(lane); -> ;'],
  ['first(); second();', 'swap with the next, `first`: first(); -> second(); first();'],
  ['for (;;) { if (isLate) break; }', 'end the function instead, `isLate`: break; -> return;'],
  ['return own ?? other;', 'leave out the operand, `other`: own ?? other -> own'],
  ['send(lane, limit);', 'leave out the argument, `limit`: limit -> undefined'],
  ['return [own, other];', 'leave out the element, `own`: [own, other] -> [other]'],
  ['return { own, other };', 'leave out the property, `own`: { own, other } -> ({ other })'],
  ['return Math.max(own, other);', 'leave out the call, `max` (number 1): Math.max(own, other) -> own'],
  ['return task.catch(report);', 'leave out the call, `catch`: task.catch(report) -> task'],
  ['return keys.map(name);', 'only the first, `keys`: keys -> [...keys].slice(0, 1)'],
  ['for (const key of keys) send(key);', 'the other way round, `keys`: keys -> [...keys].reverse()'],
  ['await sent;', 'do not wait, `sent`: await sent -> sent'],
  ['if (lane.isFull) send();', 'always true, `isFull`: lane.isFull -> true'],
  ['if (lane.isFull) send();', 'always false, `isFull`: lane.isFull -> false'],
  ['return !isFull;', 'negate, `isFull`: !isFull -> isFull'],
  ['return bytes <= limit;', 'move the bound, `bytes`: bytes <= limit -> (bytes < limit)'],
  ['return own && other;', 'swap the operator, `own`: own && other -> (own || other)'],
  ['return at + 1n;', 'add one, `1n`: 1n -> (1n + 1n)'],
  ['isFull = true;', 'flip the literal, `isFull`: true -> false'],
  ['const limit = bytes;', 'undefined instead of the value, `limit`: bytes -> undefined'],
] as const;

describe('the changes of a function', () => {
  let lines: string[];

  beforeAll(() => {
    const folder = mkdtempSync(join(tmpdir(), 'mutants-'));
    const file = join(folder, 'module.ts');
    writeFileSync(
      file,
      CHANGES.map(([statement], index) => `async function case${index}() { ${statement} }`).join('\n'),
    );
    lines = ruleMutants('--changes', file).split('\n');
    rmSync(folder, { recursive: true });
  });

  test.each(CHANGES.map((each, index) => [...each, index] as const))('%s – %s', (_, change, index) => {
    expect(lines).toContain(`\`case${index}\`: ${change}`);
  });
});
