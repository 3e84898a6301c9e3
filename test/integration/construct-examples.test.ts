import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { type Assembly, constructPages } from '../../scripts/reference/construct-pages';

/** Each construct has an example in its docstring, which every language's reference shows. All of them compile. */

const ROOT = join(__dirname, '../..');
const assembly: Assembly = JSON.parse(readFileSync(join(ROOT, '.jsii'), 'utf8'));
const titles = [...constructPages(assembly).values()].map(({ title }) => title);
const constructs = Object.values(assembly.types).filter(({ name }) => titles.includes(name));

/** What an example may use without saying where it comes from: that of the translation into other languages. */
const [PRELUDE = ''] = readFileSync(join(ROOT, 'rosetta/app.ts-fixture'), 'utf8').split('/// here');

test.each(constructs)('$name has an example', ({ docs }) => {
  expect(docs?.example).toMatch(/\S/);
});

test('the examples compile', () => {
  const examples = constructs.map(({ docs }) => `{\n${docs?.example}\n}\n`);
  expect(problemsOf(PRELUDE + examples.join(''))).toEqual([]);
  expect(problemsOf(`${PRELUDE}new UniformStream(stack, 'Events', { shards: 4 });`)).toHaveLength(1);
}, 60_000);

function problemsOf(text: string): string[] {
  const file = join(ROOT, 'construct-examples.mts');
  const options: ts.CompilerOptions = {
    module: ts.ModuleKind.Node20,
    target: ts.ScriptTarget.ES2023,
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: ['node'],
  };
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile } = host;
  host.fileExists = (path) => path === file || fileExists(path);
  host.readFile = (path) => (path === file ? text : readFile(path));
  host.getCurrentDirectory = () => ROOT;
  const program = ts.createProgram([file], options, host);
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
}
