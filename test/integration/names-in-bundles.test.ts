import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Logs and callers identify an error by the name of its class. The bundler keeps class names, but if two classes have
 * the same name, it appends a number to one name.
 */
const ROOT = join(__dirname, '../..');
const FUNCTIONS = join(ROOT, 'dist/lambda');

const sources = ['lib', 'lambda'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(join(ROOT, folder, file), 'utf8')),
);
const errors = sources.flatMap((text) => [...text.matchAll(/class (\w+Error) extends/g)].map(([, name]) => name!));

test('the sources contain error classes', () => {
  expect(errors).toContain('EvenShardsError');
  expect(errors).toContain('InvalidEventError');
});

test.each(readdirSync(FUNCTIONS))('the bundle of %s keeps the names of its error classes', (name) => {
  const bundle = readFileSync(join(FUNCTIONS, name, 'index.js'), 'utf8');
  expect(bundle).toMatch(/\bEvenShardsError ?= ?class\b|class EvenShardsError\b/);
  expect(
    errors.filter((error) => new RegExp(`\\b${error}\\d+ ?= ?class\\b|class ${error}\\d+\\b`).test(bundle)),
  ).toEqual([]);
});
