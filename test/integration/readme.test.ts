import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

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
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const examples = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, example]) => example!);

  test('has examples that compile against the published package', () => {
    expect(examples.length).toBeGreaterThanOrEqual(4);
    const broken = "import { OrderedProducer, Nothing } from 'cdk-even-shards/core';\nnew OrderedProducer();";
    expect(typeCheck([...examples, broken])).toEqual([
      expect.stringContaining("has no exported member 'Nothing'"),
      expect.stringContaining('Expected 2 arguments'),
    ]);
  }, 60_000);

  test('has links that lead somewhere', () => {
    const links = [...readme.matchAll(/\]\(([^)]+)\)/g)].map(([, link]) => link!);
    expect(links.length).toBeGreaterThan(3);
    for (const link of links.filter((each) => !each.startsWith('http'))) {
      expect({ link, exists: existsSync(join(root, link)) }).toEqual({ link, exists: true });
    }
  });
});
