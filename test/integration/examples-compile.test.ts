import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { type Assembly, constructPages } from '../../scripts/reference/construct-pages';

const root = join(__dirname, '..', '..');

const assembly: Assembly = JSON.parse(read('.jsii'));
const titles = [...constructPages(assembly).values()].map(({ title }) => title);
const constructs = Object.values(assembly.types).filter(({ name }) => titles.includes(name));

/** What the example of a construct may use without saying where it comes from: that of the translation into other languages. */
const [PRELUDE = ''] = read('rosetta/app.ts-fixture').split('/// here');

const broken = "import { OrderedProducer, Nothing } from 'cdk-even-shards/core';\nnew OrderedProducer();";

/** What the compiler says of the examples of documents, each a file of its own beside the package, which it finds by its name. */
const problems = typeCheck({
  README: examplesIn('README.md'),
  guides: markdownIn('docs/guides').flatMap(examplesIn),
  constructs: [PRELUDE + constructs.map(({ docs }) => `{\n${docs?.example}\n}\n`).join('')],
  broken: [broken],
});

/** One program for all: what takes the time is the types of the CDK. */
function typeCheck<Name extends string>(examples: Record<Name, string[]>): Record<Name, string[]> {
  const groups = Object.entries(examples) as [Name, string[]][];
  const fileOf = (group: Name, index: number) => join(root, `${group}-example-${index + 1}.mts`);
  const sources = new Map(
    groups.flatMap(([group, texts]) => texts.map((text, index) => [fileOf(group, index), text] as const)),
  );
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
  host.fileExists = (path) => sources.has(path) || fileExists(path);
  host.readFile = (path) => sources.get(path) ?? readFile(path);
  host.getCurrentDirectory = () => root;
  const program = ts.createProgram([...sources.keys()], options, host);
  const found = ts.getPreEmitDiagnostics(program);
  const messages = (path: string | undefined) =>
    found
      .filter(({ file }) => file?.fileName === path)
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
  expect(messages(undefined)).toEqual([]);
  return Object.fromEntries(
    groups.map(([group, texts]) => [group, texts.flatMap((_, index) => messages(fileOf(group, index)))]),
  ) as Record<Name, string[]>;
}

test('an example that does not compile is found', () => {
  expect(problems.broken).toEqual([
    expect.stringContaining("has no exported member 'Nothing'"),
    expect.stringContaining('Expected 2 arguments'),
  ]);
});

test('the examples of README compile against the published package', () => {
  expect(examplesIn('README.md').length).toBeGreaterThanOrEqual(4);
  expect(problems.README).toEqual([]);
});

test('the examples of the guides compile', () => {
  expect(problems.guides).toEqual([]);
});

describe('each construct has an example, which the reference of every language shows', () => {
  test.each(constructs)('$name', ({ docs }) => {
    expect(docs?.example).toMatch(/\S/);
  });

  test('they compile', () => {
    expect(problems.constructs).toEqual([]);
  });
});

function markdownIn(folder: string): string[] {
  const names = readdirSync(join(root, folder)).filter((name) => name.endsWith('.md'));
  return names.map((name) => `${folder}/${name}`);
}

function examplesIn(document: string): string[] {
  return [...read(document).matchAll(/^```m?ts\n(.*?)^```$/gms)].map(([, example]) => example!);
}

function read(document: string): string {
  return readFileSync(join(root, document), 'utf8');
}
