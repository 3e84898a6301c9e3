// Lints prose with textlint: comments, names of tests, messages of errors, and Markdown. `scripts/prose/rules.json` has the rules.
//
//     npm run prose [-- FILE OR FOLDER...]
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { TextlintKernel } from '@textlint/kernel';
import markdown from '@textlint/textlint-plugin-markdown';
import { plainEnglish } from './prose/plain-english.mjs';
import * as sourceFiles from './prose/source-files.mjs';

const { folders, ...rules } = JSON.parse(readFileSync(new URL('./prose/rules.json', import.meta.url), 'utf8'));
const plugins = [
  { pluginId: 'markdown', plugin: markdown.default, extensions: ['.md'] },
  { pluginId: 'source-files', plugin: sourceFiles, extensions: ['.ts', '.mjs', '.js'] },
];
const extensions = plugins.flatMap((plugin) => plugin.extensions);
const named = process.argv.slice(2);
const kernel = new TextlintKernel();

let count = 0;
for (const path of (named.length > 0 ? named : folders).flatMap(filesIn)) {
  const { messages } = await kernel.lintText(readFileSync(path, 'utf8'), {
    filePath: path,
    ext: extname(path),
    plugins,
    rules: [{ ruleId: 'plain-english', rule: plainEnglish, options: rules }],
  });
  for (const { line, message } of messages) console.log(`${path}:${line}  ${message}`);
  count += messages.length;
}
if (count > 0) {
  console.error(`${count} sentences break a rule; CONTRIBUTING.md explains the rules`);
  process.exitCode = 1;
}

function filesIn(path) {
  if (!statSync(path).isDirectory()) return extensions.includes(extname(path)) ? [path] : [];
  return readdirSync(path)
    .filter((name) => !rules.ignored.includes(name))
    .sort()
    .flatMap((name) => filesIn(join(path, name)));
}
