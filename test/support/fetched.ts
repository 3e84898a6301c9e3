import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Tools and packages that only some tests need. The first use downloads them into a cache. */
const CACHE = resolve('node_modules/.cache');

/** The requirements of a test that downloads Python packages. */
export const PYTHON_NEEDED = 'python3 with venv, and the Python Package Index';

/** The interpreter of an environment that `pythonWith` has made. Beside it are the commands of its packages. */
export function pythonOf(name: string): string {
  return join(CACHE, name, 'bin/python');
}

/** The interpreter of an environment that has these packages, for programs that import these modules. Undefined without Python. */
export function pythonWith(name: string, packages: readonly string[], imports: string): string | undefined {
  const folder = join(CACHE, name);
  const python = pythonOf(name);
  if (succeeds(python, '-c', `import ${imports}`)) return python;
  // A virtual environment cannot be moved, so it is made where it stays.
  const isThere =
    succeeds('python3', '-m', 'venv', folder) && succeeds(python, '-m', 'pip', 'install', '--quiet', ...packages);
  return isThere ? python : undefined;
}

/** A folder with the jars of a POM. Undefined without Maven. */
export function jarsOf(name: string, pom: string): string | undefined {
  const goal = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies';
  return fetchedFolder(name, (folder) => succeeds('mvn', '-q', '-B', '-f', pom, goal, `-DoutputDirectory=${folder}`));
}

/** A folder of the cache: whole, or not there at all. */
export function fetchedFolder(name: string, fetch: (folder: string) => boolean): string | undefined {
  const folder = join(CACHE, name);
  if (existsSync(folder)) return folder;
  const part = `${folder}.part`;
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part, { recursive: true });
  if (!fetch(part)) return undefined;
  renameSync(part, folder);
  return folder;
}

/** Longer than any fetch takes on a slow line. */
const PATIENCE_MS = 10 * 60_000;

export function succeeds(program: string, ...programArguments: string[]): boolean {
  return spawnSync(program, programArguments, { stdio: 'ignore', timeout: PATIENCE_MS }).status === 0;
}
