import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, delimiter, dirname, extname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { compileFunction, constants } from 'node:vm';
import { importFromPackages } from './import-from-packages';
import { isInRuntime, SDK_PACKAGE } from './runtime-packages';

export type Handler = (event: unknown, context: object, callback?: HandlerCallback) => unknown;
type HandlerCallback = (error?: unknown, result?: unknown) => void;

/** An error with which Lambda's Node.js runtime rejects a function. */
export function runtimeError(type: string, message: string): Error {
  return Object.assign(new Error(message), { name: `Runtime.${type}` });
}

/** Loads `file.export` from a function's code directory, as the Node.js runtime of Lambda does. */
export async function loadHandler(codeDirectory: string, handler: string): Promise<Handler> {
  if (handler.includes('..')) {
    throw runtimeError(
      'MalformedHandlerName',
      `'${handler}' is not a valid handler name. Use absolute paths when specifying root directories in handler names.`,
    );
  }
  const [, file, path] = /^([^.]*)\.(.*)$/.exec(basename(handler)) ?? [];
  if (file === undefined) throw runtimeError('MalformedHandlerName', 'Bad handler');
  const module = await loadModule(codeDirectory, moduleFile(codeDirectory, join(dirname(handler), file)));
  const exported = exportOf(module, path!);
  if (!exported) throw runtimeError('HandlerNotFound', `${handler} is undefined or not exported`);
  if (typeof exported !== 'function') throw runtimeError('HandlerNotFound', `${handler} is not a function`);
  return exported as Handler;
}

function exportOf(module: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => Object(value)[name], module);
}

function moduleFile(codeDirectory: string, file: string): string {
  const candidates = ['.js', '.mjs', '.cjs'].map((extension) => join(codeDirectory, file + extension));
  const found = candidates.find((candidate) => existsSync(candidate));
  if (found === undefined) throw runtimeError('ImportModuleError', `Error: Cannot find module '${file}'`);
  return found;
}

async function loadModule(codeDirectory: string, file: string): Promise<unknown> {
  importFromPackages((process.env.NODE_PATH ?? '').split(delimiter).filter((folder) => folder !== ''));
  try {
    return isEsModule(codeDirectory, file) ? await import(pathToFileURL(file).href) : requireModule(file);
  } catch (error) {
    if (error instanceof SyntaxError) throw runtimeError('UserCodeSyntaxError', String(error));
    const { code, message } = Object(error);
    const hint = code === 'MODULE_NOT_FOUND' || code === 'ERR_MODULE_NOT_FOUND' ? installHint(message) : '';
    if (code === 'MODULE_NOT_FOUND' || hint !== '') throw runtimeError('ImportModuleError', `${error}${hint}`);
    throw error;
  }
}

/** What to do about a missing package of the SDK. Empty for any other package. */
function installHint(message: string): string {
  const [, name] = new RegExp(`'(${SDK_PACKAGE})['/]`).exec(message) ?? [];
  if (name === undefined) return '';
  const runtime = process.env.AWS_EXECUTION_ENV!.replace('AWS_Lambda_', '');
  return isInRuntime(name, runtime)
    ? `\nLambda's runtime includes ${name}, but a local run uses the packages of the app; ` +
        `install it: npm install --save-dev ${name}`
    : `\nLambda's ${runtime} does not include ${name}; bundle it`;
}

/**
 * Whether a file is an ES module. The package.json of the CDK app does not decide this, because in Lambda, no
 * package.json exists outside the asset.
 */
function isEsModule(codeDirectory: string, file: string): boolean {
  if (extname(file) !== '.js') return extname(file) === '.mjs';
  const manifest = packageManifests(codeDirectory, dirname(file)).find((candidate) => existsSync(candidate));
  return manifest !== undefined && JSON.parse(readFileSync(manifest, 'utf8')).type === 'module';
}

function packageManifests(codeDirectory: string, directory: string): string[] {
  const here = join(directory, 'package.json');
  return relative(codeDirectory, directory) === ''
    ? [here]
    : [here, ...packageManifests(codeDirectory, dirname(directory))];
}

/** Loads a CommonJS file as `require` does, but ignores every package.json outside the asset. */
function requireModule(file: string): unknown {
  const module = { exports: {} };
  const run = compileFunction(readFileSync(file, 'utf8'), ['exports', 'require', 'module', '__filename', '__dirname'], {
    filename: file,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  run.call(module.exports, module.exports, createRequire(file), module, file, dirname(file));
  return module.exports;
}
