import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, extname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { compileFunction, constants } from 'node:vm';
import { importFromPackages } from './import-from-packages';
import { RUNTIME_SCOPES } from './runtime-packages';

export type Handler = (event: unknown, context: object, callback: HandlerCallback) => unknown;
type HandlerCallback = (error?: unknown, result?: unknown) => void;

/** Loads `file.export` from a function's code directory, as the Node.js runtime of Lambda does. */
export async function loadHandler(codeDirectory: string, handler: string): Promise<Handler> {
  const [, file, path] = /^((?:.*\/)?[^/.]+)\.(.+)$/.exec(handler) ?? [];
  // A handler must be inside the code of the function. Lambda also rejects a handler outside the code.
  if (file === undefined || file.split('/').includes('..')) {
    throw runtimeError('MalformedHandlerName', `bad handler ${handler}: it must be file.export, inside the code`);
  }
  const module = await loadModule(codeDirectory, moduleFile(codeDirectory, file));
  const exported = path!
    .split('.')
    .reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], module);
  if (typeof exported !== 'function') throw runtimeError('HandlerNotFound', `${handler} is undefined or not exported`);
  return exported as Handler;
}

function moduleFile(codeDirectory: string, file: string): string {
  const candidates = ['.js', '.mjs', '.cjs'].map((extension) => join(codeDirectory, file + extension));
  const found = candidates.find((candidate) => existsSync(candidate));
  if (found === undefined) throw runtimeError('ImportModuleError', `Error: Cannot find module '${file}'`);
  return found;
}

async function loadModule(codeDirectory: string, file: string): Promise<unknown> {
  const isModule = isEsModule(codeDirectory, file);
  if (isModule) importFromPackages((process.env.NODE_PATH ?? '').split(delimiter).filter((folder) => folder !== ''));
  try {
    return isModule ? await import(pathToFileURL(file).href) : requireModule(file);
  } catch (error) {
    const missing = missingPackage(error);
    throw missing === undefined ? error : runtimeError('ImportModuleError', missing);
  }
}

/** The error message for a missing package that is part of Lambda's runtime. Undefined for any other error. */
function missingPackage(error: unknown): string | undefined {
  const { code, message } = Object(error);
  if (code !== 'MODULE_NOT_FOUND' && code !== 'ERR_MODULE_NOT_FOUND') return undefined;
  const [, name, scope] = /'((@[^/']+)\/[^/']+)/.exec(message) ?? [];
  if (name === undefined || !RUNTIME_SCOPES.includes(scope!)) return undefined;
  return (
    `Error: Cannot find module '${name}': Lambda's runtime includes it, but a local run uses the packages of the app; ` +
    `install it: npm install --save-dev ${name}`
  );
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

function runtimeError(type: string, message: string): Error {
  return Object.assign(new Error(message), { name: `Runtime.${type}` });
}
