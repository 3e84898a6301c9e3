import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { type Assembly, constructPages } from '../../../scripts/reference/construct-pages';

const root = join(__dirname, '..', '..', '..');

const assembly: Assembly = JSON.parse(read('.jsii'));
const titles = [...constructPages(assembly).values()].map(({ title }) => title);
const constructs = Object.values(assembly.types).filter(({ name }) => titles.includes(name));

/**
 * The declarations that the example of a construct can use. jsii uses the same declarations to translate the examples
 * into other languages.
 */
const [PRELUDE = ''] = read('rosetta/app.ts-fixture').split('/// here');

const broken = "import { OrderedProducer, Nothing } from 'cdk-even-shards/core';\nnew OrderedProducer();";

/** The examples that import only entry points. */
const applications = ['README.md', ...markdownIn('docs/guides')]
  .flatMap(examplesIn)
  .filter((example) => !/ from '(cdk-even-shards|aws-cdk-lib.*)'/.test(example));

/** The compiler errors of the examples. Each example is a separate file that imports the package by its name. */
const problems = typeCheck({
  README: examplesIn('README.md'),
  guides: markdownIn('docs/guides').flatMap(examplesIn),
  constructs: [PRELUDE + constructs.map(({ docs }) => `{\n${docs?.example}\n}\n`).join('')],
  broken: [broken],
});

/** Type-checks all examples in one program, because the types of the CDK take most of the time. */
function typeCheck<Name extends string>(
  examples: Record<Name, string[]>,
  stricter: ts.CompilerOptions = {},
): Record<Name, string[]> {
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
    ...stricter,
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

test('the type check reports an example that does not compile', () => {
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

test('the examples of applications compile with the options that strict does not contain', () => {
  expect(applications.length).toBeGreaterThanOrEqual(20);
  const stricter = { exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, isolatedModules: true };
  expect(typeCheck({ applications }, stricter).applications).toEqual([]);
});

describe('the example of a construct', () => {
  test.each(constructs)('exists for $name', ({ docs }) => {
    expect(docs?.example).toMatch(/\S/);
  });

  test('compiles', () => {
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
