import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { brokenLinks, linksOf } from '../support/document-links';

const root = join(__dirname, '..', '..');

/** What the compiler says of examples, each a file of its own beside the package, which it finds by its name. */
function typeCheck(examples: readonly string[]): string[] {
  const sources = new Map(examples.map((text, index) => [join(root, `readme-example-${index + 1}.mts`), text]));
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
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
}

describe('README', () => {
  test('has examples that compile against the published package', () => {
    const examples = examplesIn('README.md');
    expect(examples.length).toBeGreaterThanOrEqual(4);
    const broken = "import { OrderedProducer, Nothing } from 'cdk-even-shards/core';\nnew OrderedProducer();";
    expect(typeCheck([...examples, broken])).toEqual([
      expect.stringContaining("has no exported member 'Nothing'"),
      expect.stringContaining('Expected 2 arguments'),
    ]);
  }, 60_000);
});

test('README has no link that leads nowhere from the pages of npm and PyPI', () => {
  expect(linksOf(read('README.md')).filter((link) => !link.startsWith('http'))).toEqual([]);
});

describe('the documents', () => {
  const documents = [
    'README.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    'release/README.md',
    ...['docs', 'docs/guides', 'docs/decisions'].flatMap(markdownIn),
  ];

  test('of the guides have examples that compile against the published package', () => {
    expect(typeCheck(markdownIn('docs/guides').flatMap(examplesIn))).toEqual([]);
  }, 60_000);

  test.each(documents)('%s has links that lead somewhere', (document) => {
    expect(brokenLinks(document, linksOf(read(document)))).toEqual([]);
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
