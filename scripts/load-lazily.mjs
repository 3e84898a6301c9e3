// Lets the compiled constructs load each module when it is first used, as those of aws-cdk-lib do: an app that makes a stream
// loads nothing of tables. The core stays as it is, since its functions are called far more often than constructs are made.
// Run again on its own output, it changes nothing.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = 'dist/lib';
const EAGER = /^(core|testing)\//;

for (const file of readdirSync(ROOT, { recursive: true })) {
  if (!file.endsWith('.js') || EAGER.test(file.replaceAll('\\', '/'))) continue;
  const path = join(ROOT, file);
  const eager = readFileSync(path, 'utf8');
  const lazy = lazily(eager);
  if (lazy !== eager) writeFileSync(path, lazy);
}

function lazily(text) {
  const imported = [];
  const declared = text.replace(/^(?:var|const) (\w+) = (require\(".*"\));$/gm, (_, name, load) => {
    imported.push(name);
    return `let ${name} = () => { const loaded = ${load}; ${name} = () => loaded; return loaded; };`;
  });
  if (imported.length === 0) return text;
  const names = imported.join('|');
  return (
    declared
      // In brackets behind `new`, which else takes the function for the class.
      .replace(new RegExp(`\\bnew (${names})\\.`, 'g'), 'new ($1()).')
      .replace(new RegExp(`\\b(${names})\\.`, 'g'), '$1().')
      // Node.js reads `exports.Name = void 0` for what `import { Name }` can have, and takes it back at a getter that calls
      // a function: it does not look for one where the name stands in brackets.
      .replace(/^(Object\.defineProperty\(exports, )("\w+")/gm, '$1($2)')
  );
}
