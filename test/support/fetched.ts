import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

/**
 * The cache of tools and packages that only some tests need. The first test that needs a tool downloads it into this
 * folder.
 */
const CACHE = resolve('node_modules/.cache');

/** The requirements of a test that downloads Python packages. */
export const PYTHON_NEEDED = 'python3 with venv, and the Python Package Index';

/**
 * The Python interpreter of a virtual environment from `pythonWith`. The same folder has the commands of the installed
 * packages.
 */
export function pythonOf(name: string): string {
  return join(CACHE, name, 'bin/python');
}

/**
 * Creates a virtual environment with these packages, unless it exists and can import these modules. Returns its
 * interpreter, or undefined if the machine has no Python.
 */
export function pythonWith(name: string, packages: readonly string[], imports: string): string | undefined {
  const folder = join(CACHE, name);
  const python = pythonOf(name);
  if (succeeds(python, '-c', `import ${imports}`)) return python;
  // A virtual environment cannot be moved, so it is created in its final folder.
  const isThere =
    succeeds('python3', '-m', 'venv', folder) && succeeds(python, '-m', 'pip', 'install', '--quiet', ...packages);
  return isThere ? python : undefined;
}

/** Returns a folder with the jars of a POM, or undefined if the machine has no Maven. */
export function jarsOf(name: string, pom: string): string | undefined {
  const goal = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies';
  return fetchedFolder(name, (folder) => succeeds('mvn', '-q', '-B', '-f', pom, goal, `-DoutputDirectory=${folder}`));
}

/**
 * Returns a folder of the cache, and downloads its files if the folder does not exist. A failed download leaves no
 * incomplete folder.
 */
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

/** This is longer than the slowest download takes. */
const PATIENCE_MS = 10 * 60_000;

export function succeeds(program: string, ...programArguments: string[]): boolean {
  return spawnSync(program, programArguments, { stdio: 'ignore', timeout: PATIENCE_MS }).status === 0;
}
