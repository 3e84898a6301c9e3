import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { counted } from '../../plain-text';
import type { LocalFunction } from '../assembly/planned-function';
import { isInRuntime, SDK_PACKAGE } from './runtime-packages';

/**
 * An import or a `require` of the SDK, except in an arrow function: the SDK itself imports some packages only when it
 * needs them. Error texts of the SDK quote other imports in brackets: `[require("@aws-sdk/signature-v4-crt");]`.
 */
const IMPORT = new RegExp(
  `(?<!=>\\s*(?:[\\w$.]+\\()*)\\b(?:require\\(|import|from)\\s*["'](${SDK_PACKAGE})(?:/|["'](?!\\)?;\\]))`,
  'g',
);
const COMMENT_LINE = /^\s*(?:\/\/|\/?\*)/;

/**
 * The lines to print before the start. One line lists the packages of Lambda's runtime that the app lacks, with one
 * command to install them. Other lines name functions that import an SDK which their runtime lacks.
 *
 * @param packages the folders in which functions find the packages of Lambda's runtime
 */
export function importProblems(functions: readonly LocalFunction[], packages: readonly string[]): string[] {
  const missing = new Set<string>();
  const notOfRuntime = new Set<string>();
  for (const { path, runtime, codeDirectory, layers, missingLayers } of functions) {
    const ofLayers = layers.map((layer) => join(layer, 'nodejs/node_modules'));
    for (const file of missingLayers.length > 0 ? [] : codeFiles(codeDirectory)) {
      const own = [...parentPackages(dirname(file)).filter((folder) => folder.startsWith(codeDirectory)), ...ofLayers];
      for (const name of importedPackages(readFileSync(file, 'utf8'))) {
        if (isIn(own, name)) continue;
        if (!isInRuntime(name, runtime)) {
          notOfRuntime.add(`${path} imports ${name}, but Lambda's ${runtime} does not include ${name}: bundle it`);
        } else if (!isIn([...parentPackages(dirname(codeDirectory)), ...packages], name)) missing.add(name);
      }
    }
  }
  const names = [...missing].sort();
  if (names.length === 0) return [...notOfRuntime];
  const packagesOfLambda = `${counted(names.length, 'package')} of Lambda's runtime`;
  const install = `npm install --save-dev ${names.join(' ')}`;
  return [`functions import ${packagesOfLambda} that the app lacks: ${install}`, ...notOfRuntime];
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

function isIn(folders: readonly string[], name: string): boolean {
  return folders.some((folder) => existsSync(join(folder, name)));
}

function parentPackages(directory: string): string[] {
  const parent = dirname(directory);
  return [join(directory, 'node_modules'), ...(parent === directory ? [] : parentPackages(parent))];
}
