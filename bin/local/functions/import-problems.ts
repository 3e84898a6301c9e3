import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { counted } from '../../plain-text';
import type { LocalFunction } from '../assembly/planned-function';
import { RUNTIME_SCOPES } from './runtime-packages';

/**
 * An import or a `require` of a package of Lambda's runtime. Error texts of the SDK quote imports of optional packages in
 * brackets: `[require("@aws-sdk/signature-v4-crt");]`.
 */
const IMPORT = new RegExp(
  `\\b(?:require\\(|import\\(|import|from)\\s*["']((?:${RUNTIME_SCOPES.join('|')})/[\\w.-]+)(?:/|["'](?!\\)?;\\]))`,
  'g',
);
const COMMENT_LINE = /^\s*(?:\/\/|\/?\*)/;

/**
 * The line to print before the start, about packages of Lambda's runtime that the app lacks, with one command to install
 * them.
 *
 * @param packages the folders in which functions find the packages of Lambda's runtime
 */
export function importProblems(functions: readonly LocalFunction[], packages: readonly string[]): string[] {
  const missing = new Set<string>();
  for (const { codeDirectory, layers } of functions) {
    const folders = [...packages, ...layers.map((layer) => join(layer, 'nodejs/node_modules'))];
    for (const file of codeFiles(codeDirectory)) {
      const code = readFileSync(file, 'utf8');
      for (const name of importedPackages(code)) if (!isInstalled(name, file, folders)) missing.add(name);
    }
  }
  const names = [...missing].sort();
  if (names.length === 0) return [];
  const packagesOfRuntime = `${counted(names.length, 'package')} of Lambda's runtime`;
  return [`functions import ${packagesOfRuntime} that the app lacks: npm install --save-dev ${names.join(' ')}`];
}

/** The code of a function, without its packages. */
function codeFiles(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : codeFiles(path);
    return /\.[cm]?js$/.test(entry.name) ? [path] : [];
  });
}

function importedPackages(code: string): string[] {
  const lines = code.split('\n').filter((line) => !COMMENT_LINE.test(line));
  return lines.flatMap((line) => [...line.matchAll(IMPORT)].map(([, name]) => name!));
}

function isInstalled(name: string, file: string, folders: readonly string[]): boolean {
  return [...parentPackages(dirname(file)), ...folders].some((folder) => existsSync(join(folder, name)));
}

function parentPackages(directory: string): string[] {
  const parent = dirname(directory);
  return [join(directory, 'node_modules'), ...(parent === directory ? [] : parentPackages(parent))];
}
