import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { compileFunction, constants } from 'node:vm';

export type Handler = (event: unknown, context: object, callback: HandlerCallback) => unknown;
export type HandlerCallback = (error?: unknown, result?: unknown) => void;

/** Loads `file.export` from a function's code directory, as the Node.js runtime of Lambda does. */
export async function loadHandler(codeDirectory: string, handler: string): Promise<Handler> {
  const [, file, path] = /^((?:.*\/)?[^/.]+)\.(.+)$/.exec(handler) ?? [];
  // Lambda refuses these too: there is nothing of the function's outside its code.
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
  return isEsModule(codeDirectory, file) ? await import(pathToFileURL(file).href) : requireModule(file);
}

/** Lambda unpacks the asset at the root of its own tree: a package.json outside it, such as the CDK app's, has no say. */
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

/** As `require` does it, except that no package.json outside the asset turns the file into an ES module. */
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
