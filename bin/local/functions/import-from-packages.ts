import { register } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Code that Node.js asks where a module is. It looks beside the importing module first, and then beside each of `parents`. */
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
 * Lets `import` look into folders of packages, too. With NODE_PATH, Node.js does so only for `require`, but Lambda's
 * runtime does so for both.
 */
export function importFromPackages(folders: readonly string[]): void {
  const data = folders.map((folder) => pathToFileURL(join(folder, '../index.js')).href);
  // The successor of `register`, registerHooks, is not in Node.js 20.
  if (folders.length > 0) register(`data:text/javascript,${encodeURIComponent(HOOKS)}`, { data });
}
