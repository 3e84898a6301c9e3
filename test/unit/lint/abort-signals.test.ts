import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../../..');

test('the sources do not use AbortSignal.any, which can lose timeouts; callWithin replaces it', () => {
  const files = ['bin', 'lambda', 'lib', 'examples', 'test/models/fuzz', 'test/support'].flatMap(sourcesIn);
  expect(files.length).toBeGreaterThan(400);
  expect(files.filter((file) => readFileSync(file, 'utf8').includes('AbortSignal.any('))).toEqual([]);
});

function sourcesIn(folder: string): string[] {
  const entries = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  return entries.filter((name) => name.endsWith('.ts')).map((name) => join(ROOT, folder, name));
}
