import { register } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Node.js runs this code to resolve imports. It looks for a package first from the importing module, and then from each
 * of `parents`.
 */
const HOOKS = `
let parents;
export function initialize(data) { parents = data; }
export async function resolve(specifier, context, next) {
  try {
    return await next(specifier, context);
  } catch (error) {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    for (const parentURL of parents) {
      try { return await next(specifier, { ...context, parentURL }); } catch {}
    }
    throw error;
  }
}`;

/**
 * Lets `import` search these folders of packages, too. Node.js uses NODE_PATH only for `require`, but Lambda's runtime
 * uses NODE_PATH for `require` and `import`.
 */
export function importFromPackages(folders: readonly string[]): void {
  const data = folders.map((folder) => pathToFileURL(join(folder, '../index.js')).href);
  // `registerHooks`, the successor of `register`, does not exist in Node.js 20.
  if (folders.length > 0) register(`data:text/javascript,${encodeURIComponent(HOOKS)}`, { data });
}
