import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(__dirname, '..', '..');
const folder = join(root, 'dist', 'readme');

/** Each example alone, against the package's published types. */
function typeCheck(examples: readonly string[]): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  examples.forEach((example, index) => {
    writeFileSync(join(folder, `example-${index + 1}.mts`), example);
  });
  const compilerOptions = { module: 'node20', strict: true, noEmit: true, skipLibCheck: true, types: ['node'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.mts'] }));
  execFileSync(process.execPath, [require.resolve('typescript/bin/tsc'), '-p', folder], { encoding: 'utf8' });
}

describe('README', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const examples = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, example]) => example!);

  test('has examples that compile against the published package', () => {
    expect(examples.length).toBeGreaterThanOrEqual(4);
    typeCheck(examples);
  }, 60_000);

  test('has links that lead somewhere', () => {
    const links = [...readme.matchAll(/\]\(([^)]+)\)/g)].map(([, link]) => link!);
    expect(links.length).toBeGreaterThan(3);
    for (const link of links.filter((each) => !each.startsWith('http'))) {
      expect(() => readFileSync(join(root, link))).not.toThrow(/ENOENT/);
    }
  });
});
