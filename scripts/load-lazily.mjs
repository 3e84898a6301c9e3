// Changes the compiled constructs so that a module loads at its first use, as in aws-cdk-lib: an app with only a stream
// does not load the modules of tables. The script does not change the core, because an application calls functions of
// the core far more often than it creates constructs. A second run changes nothing.
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
      // After `new`, the call needs parentheses. Without parentheses, `new` would call the loading function as a
      // constructor.
      .replace(new RegExp(`\\bnew (${names})\\.`, 'g'), 'new ($1()).')
      .replace(new RegExp(`\\b(${names})\\.`, 'g'), '$1().')
      // For `import { Name }`, Node.js finds the names in `exports.Name = void 0`, but drops a name whose getter calls
      // a function. Node.js does not analyse a getter whose name is in square brackets.
      .replace(/^(Object\.defineProperty\(exports, )("\w+")/gm, '$1($2)')
  );
}
