import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * An error tells its class by its name, in a log and to the caller of a function. The bundler keeps names as they are written, but
 * gives the second of two that are the same a number.
 */
const ROOT = join(__dirname, '../..');
const FUNCTIONS = join(ROOT, 'dist/lambda');

const sources = ['lib', 'lambda'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(join(ROOT, folder, file), 'utf8')),
);
const errors = sources.flatMap((text) => [...text.matchAll(/class (\w+Error) extends/g)].map(([, name]) => name!));

test('there are errors to look for', () => {
  expect(errors).toContain('EvenShardsError');
  expect(errors).toContain('InvalidEventError');
});

test.each(readdirSync(FUNCTIONS))('the errors of the function %s have their names', (name) => {
  const bundle = readFileSync(join(FUNCTIONS, name, 'index.js'), 'utf8');
  expect(bundle).toMatch(/\bEvenShardsError ?= ?class\b|class EvenShardsError\b/);
  expect(
    errors.filter((error) => new RegExp(`\\b${error}\\d+ ?= ?class\\b|class ${error}\\d+\\b`).test(bundle)),
  ).toEqual([]);
});
