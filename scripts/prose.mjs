// Lints prose with textlint: comments, names of tests, messages of errors, and Markdown. `scripts/prose/rules.json` has the rules.
//
//     npm run prose [-- FILE OR FOLDER...]     npm run prose -- --draw     draws 300 sentences and 60 names of tests
// for a review by readers; the last commit is the seed
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { TextlintKernel } from '@textlint/kernel';
import markdown from '@textlint/textlint-plugin-markdown';
import { drawn, everySentence } from './prose/draw.mjs';
import { hardSentences } from './prose/hard-sentences.mjs';
import * as sourceFiles from './prose/source-files.mjs';

const { folders, ignored, ...options } = JSON.parse(
  readFileSync(new URL('./prose/rules.json', import.meta.url), 'utf8'),
);
const plugins = [
  { pluginId: 'markdown', plugin: markdown.default, extensions: ['.md'] },
  { pluginId: 'source-files', plugin: sourceFiles, extensions: ['.ts', '.mjs', '.js'] },
];
const extensions = plugins.flatMap((plugin) => plugin.extensions);
const kernel = new TextlintKernel();

if (process.argv[2] === '--draw') await draw();
else await check(process.argv.length > 2 ? process.argv.slice(2) : folders);

async function check(paths) {
  const messages = await messagesOf({ ruleId: 'hard-sentences', rule: hardSentences, options }, paths);
  for (const message of messages) console.log(message);
  if (messages.length === 0) return;
  console.error(`${messages.length} findings: CONTRIBUTING.md explains the rules`);
  process.exitCode = 1;
}

async function draw() {
  const seed = execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).trim();
  const messages = await messagesOf({ ruleId: 'every-sentence', rule: everySentence }, folders);
  for (const [kind, count] of [
    ['sentence', 300],
    ['test name', 60],
  ]) {
    const all = messages.filter((message) => message.includes(`  ${kind}: `));
    for (const message of drawn(all, count, seed)) console.log(message);
  }
}

async function messagesOf(rule, paths) {
  const found = [];
  for (const path of paths.flatMap(filesIn)) {
    const options = { filePath: path, ext: extname(path), plugins, rules: [rule] };
    const { messages } = await kernel.lintText(readFileSync(path, 'utf8'), options);
    found.push(...messages.map(({ line, message }) => `${path}:${line}  ${message}`));
  }
  return found;
}

function filesIn(path) {
  if (!statSync(path).isDirectory()) return extensions.includes(extname(path)) ? [path] : [];
  return readdirSync(path)
    .filter((name) => !ignored.includes(name))
    .sort()
    .flatMap((name) => filesIn(join(path, name)));
}
