import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import biome from '../../../biome.json';

/**
 * The diagram of docs/architecture.md has the modules and imports of the source tree and the messages of the lint rule.
 */

const ROOT = join(__dirname, '..', '..', '..');
/** The modules of lib/core that are not an entry point. Several entry points import these modules. */
const SHARED_MODULES = new Set(['kernel', 'stream-format', 'sharding', 'fan-out', 'aws-client', 'contract']);

const page = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8');
const [, drawing = ''] = /^```mermaid\n(.*?)^```$/ms.exec(page)!;

describe('docs/architecture.md', () => {
  test('shows exactly the modules of lib', () => {
    expect([...modulesOfDiagram()].sort()).toEqual([...modulesOfTree()].sort());
  });

  test('shows exactly the imports between modules', () => {
    expect([...arrowsOfDiagram()].sort()).toEqual([...arrowsOfTree()].sort());
  });

  test('quotes exactly the messages of the lint rule', () => {
    const rules = biome.overrides.flatMap(({ linter }) => linter?.rules ?? []);
    const messages = rules.flatMap(({ style }) =>
      (style?.noRestrictedImports.options.patterns ?? []).map(({ message }) => message),
    );
    const [, table = ''] = /^\| in \| the rule \|\n\| --- \| --- \|\n((?:\|.*\n)+)/m.exec(page)!;
    const listed = table
      .trimEnd()
      .split('\n')
      .map((row) => row.split(' | ')[1]!.replace(/ \|$/, ''));
    expect(listed.sort()).toEqual([...new Set(messages)].sort());
  });
});

/** The arrows of the diagram: each module on the left imports all modules on the right. */
function arrowsOfDiagram(): Set<string> {
  const lines = [...drawing.matchAll(/^ *(\S.*) --> (.*)$/gm)];
  return new Set(
    lines.flatMap(([, from, to]) =>
      from!.split(' & ').flatMap((left) => to!.split(' & ').map((right) => `${left} --> ${right}`)),
    ),
  );
}

function modulesOfDiagram(): Set<string> {
  const lines = drawing.split('\n').filter((line) => !/ --> |^flowchart| end$|^$/.test(line));
  return new Set(
    lines.flatMap((line) =>
      line
        .replace('subgraph', '')
        .replace(/\[.*\]/, '')
        .trim()
        .split(' & '),
    ),
  );
}

/** The module to which a file belongs: a folder of lib, a module of lib/core, or the folder bin or lambda. */
function moduleOf(file: string): string {
  const [top = '', folder = '', entryPoint = '', rest] = file.split('/');
  if (top !== 'lib') return top;
  if (folder.endsWith('.ts')) return 'lib';
  if (folder !== 'core' || rest === undefined) return folder;
  return SHARED_MODULES.has(entryPoint) ? entryPoint : `core/${entryPoint}`;
}

function sources(): string[] {
  return ['bin', 'lambda', 'lib'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => `${folder}/${name.replaceAll('\\', '/')}`),
  );
}

function modulesOfTree(): Set<string> {
  return new Set(sources().map(moduleOf));
}

/**
 * The imports in the source tree, as arrows. If a module outside of the core imports a module of the core, the arrow
 * ends at the whole core.
 */
function arrowsOfTree(): Set<string> {
  const files = new Set(sources());
  const arrows = [...files].flatMap((file) => {
    const text = readFileSync(join(ROOT, file), 'utf8');
    return [...text.matchAll(/ from '(\.[^']*)'/g)].flatMap(([, path]) => {
      const target = posix.join(posix.dirname(file), path!);
      const imported = [`${target}.ts`, `${target}/index.ts`].find((each) => files.has(each));
      return imported === undefined ? [] : [[moduleOf(file), moduleOf(imported)] as const];
    });
  });
  const isOfCore = (module: string) => module.startsWith('core/') || SHARED_MODULES.has(module);
  return new Set(
    arrows
      .map(([from, to]) => [from, isOfCore(to) && !isOfCore(from) ? 'core' : to] as const)
      .filter(([from, to]) => from !== to && from !== 'core')
      .map(([from, to]) => `${from} --> ${to}`),
  );
}
