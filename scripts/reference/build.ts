import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DeclarationReflection } from 'typedoc';
import packageJson from '../../package.json';
import { brokenLinks, linksOf, referenceLinksOf } from '../../test/support/document-links';
import { type Assembly, type ConstructPage, constructPages } from './construct-pages';

/**
 * Builds the reference into dist/reference, from the docstrings: a page for each construct and for each entry point.
 * The build fails if a docstring is missing, or if the target of a link does not exist.
 */

const OUT = 'dist/reference';
const ENTRIES = 'dist/reference-entries';

void main();

async function main(): Promise<void> {
  const assembly: Assembly = JSON.parse(readFileSync('.jsii', 'utf8'));
  const pages = constructPages(assembly);
  const titles = new Map([...pages].map(([page, { title }]) => [`constructs/${page}`, title]));
  const entries = writeEntries(new Map([...constructEntries(pages), ...doorEntries()]));
  rmSync(OUT, { recursive: true, force: true });
  const documented = await writePages(entries, titles);
  const reference = markdownIn(OUT).flatMap((page) => broken(page, linksOf));
  const elsewhere = ['README.md', ...markdownIn('docs')].flatMap((document) => broken(document, referenceLinksOf));
  const links = [...reference, ...elsewhere];
  for (const link of links) console.error(`this link leads nowhere: ${link}`);
  if (!documented || links.length > 0) process.exitCode = 1;
}

function broken(document: string, linksIn: (text: string) => string[]): string[] {
  const links = linksIn(readFileSync(document, 'utf8'));
  return brokenLinks(document, links, process.cwd()).map((link) => `${link} in ${document}`);
}

function markdownIn(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'));
  return names.map((name) => join(folder, name));
}

/** The source of a module for each page of a construct. The module exports only the types of the page. */
function constructEntries(pages: ReadonlyMap<string, ConstructPage>): [string, string][] {
  return [...pages].map(([page, { about, names }]) => [
    `constructs/${page}`,
    `/**\n * ${about}\n *\n * @module constructs/${page}\n */\nexport { ${names.join(', ')} } from '../../../lib';\n`,
  ]);
}

/**
 * The entry points of the package, except the main entry point (the constructs) and `core`, which exports all other
 * entry points.
 */
function doorEntries(): [string, string][] {
  const doors = Object.keys(packageJson.typesVersions['*']).filter((door) => door !== 'core');
  return doors.map((door) => {
    const source = packageJson.typesVersions['*'][door as 'producer'][0]!.replace('dist/', '').replace('.d.ts', '.ts');
    return [door, source];
  });
}

/** Writes the modules that do not exist yet, and returns the files to document. */
function writeEntries(entries: ReadonlyMap<string, string>): string[] {
  rmSync(ENTRIES, { recursive: true, force: true });
  mkdirSync(join(ENTRIES, 'constructs'), { recursive: true });
  const files = [...entries].map(([name, content]) => {
    if (content.endsWith('.ts')) return content;
    const file = join(ENTRIES, `${name}.ts`);
    writeFileSync(file, content);
    return file;
  });
  const tsconfig = { extends: '../../tsconfig.json', compilerOptions: { rootDir: '../..' }, files: absolute(files) };
  writeFileSync(join(ENTRIES, 'tsconfig.json'), JSON.stringify(tsconfig));
  return files;
}

function absolute(files: readonly string[]): string[] {
  return files.map((file) => join(process.cwd(), file));
}

/** Whether every docstring and the target of every `@link` exists. */
async function writePages(entries: readonly string[], titles: ReadonlyMap<string, string>): Promise<boolean> {
  const { Application, OptionDefaults } = await import('typedoc');
  const app = await Application.bootstrapWithPlugins({
    options: 'scripts/reference/typedoc.json',
    tsconfig: join(ENTRIES, 'tsconfig.json'),
    plugin: ['typedoc-plugin-markdown', './scripts/reference/parameter-names.mjs'],
    entryPoints: [...entries],
    blockTags: [...OptionDefaults.blockTags, '@stateful', '@exampleMetadata'],
    excludeTags: ['@stateful', '@exampleMetadata'],
    outputs: [{ name: 'markdown', path: OUT }],
  });
  const title = ({ name }: { name: string }) => titles.get(name) ?? `${packageJson.name}/${name}`;
  app.options.setValue('pageTitleTemplates' as never, { module: title } as never);
  const project = await app.convert();
  if (project === undefined) return false;
  // On the page of a construct, the construct comes first.
  for (const { name: page, groups = [] } of project.children ?? []) {
    const isHead = ({ name }: { name: string }) => Number(name === titles.get(page));
    for (const { children } of groups) children.sort((a, b) => isHead(b) - isHead(a));
  }
  app.validate(project);
  await app.generateOutputs(project);
  const missing = (project.children ?? []).flatMap(withoutDocstring);
  for (const name of missing) console.error(`this has no docstring: ${name}`);
  return missing.length === 0 && !app.logger.hasErrors() && !app.logger.hasWarnings();
}

/**
 * The names on a page that have no docstring. Checks the exports, and on the page of a construct also the members of
 * its types.
 */
function withoutDocstring(page: DeclarationReflection): string[] {
  const types = (page.children ?? []).filter((each) => !each.isReference());
  const members = page.name.startsWith('constructs/') ? types.flatMap(({ children }) => children ?? []) : [];
  return [...types, ...members].filter((each) => !isDocumented(each)).map((each) => each.getFullName());
}

function isDocumented(declaration: DeclarationReflection): boolean {
  const said = [declaration, ...(declaration.signatures ?? []), declaration.getSignature];
  return (
    declaration.name === 'constructor' ||
    declaration.type?.type === 'reflection' ||
    said.some((each) => each?.hasComment())
  );
}
