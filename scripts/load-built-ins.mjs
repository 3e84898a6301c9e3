// Changes the compiled CommonJS modules of the entry points to load built-in modules of Node.js without `require`. A
// bundler can put these modules into an ES module, which has no `require`. For example, esbuild ignores the condition
// "module" if the user sets other conditions. See docs/decisions/0074-built-in-modules-without-require.md. A second run
// changes nothing.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

for (const root of ['dist/lib/core', 'dist/lib/testing']) {
  for (const file of readdirSync(root, { recursive: true })) {
    if (!file.endsWith('.js')) continue;
    const path = join(root, file);
    const compiled = readFileSync(path, 'utf8');
    const portable = compiled.replace(/\brequire\(("node:[\w/]+")\)/g, 'process.getBuiltinModule($1)');
    if (portable !== compiled) writeFileSync(path, portable);
  }
}
