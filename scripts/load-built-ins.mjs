// Lets the compiled CommonJS modules of the entry points load Node.js' built-in modules without `require`. An ES module has no
// `require`, and a bundler that makes one includes these modules as they are: with custom conditions, esbuild does not know the
// condition "module" any more. See docs/decisions/0074-built-in-modules-without-require.md.
// Run again on its own output, it changes nothing.
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
