import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import mutants from './mutants.json';

test('each rule mutant matches exactly one place in the code', () => {
  const places = ['scripts/rule-mutants.mjs', '--places'];
  expect(spawnSync(process.execPath, places, { encoding: 'utf8' }).stdout).toBe('0 wrong\n');
}, 60_000);

test.each(mutants)('each rule mutant has a suite with the tests that it names: $rule', ({ suite, test }) => {
  const titles = readFileSync(suite, 'utf8');
  for (const title of test?.split('|') ?? []) expect(titles).toContain(title);
});
