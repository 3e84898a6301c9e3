import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import biome from '../../../biome.json';

/** The drawing of the house has the rooms and the imports that the tree has, and the words of the lint rule. */

const ROOT = join(__dirname, '..', '..', '..');
/** The modules of lib/core that have no entry point of their own: the entry points share them. */
const SHARED_MODULES = new Set(['kernel', 'stream-format', 'sharding', 'fan-out', 'aws-client', 'contract']);

const page = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8');
const [, drawing = ''] = /^```mermaid\n(.*?)^```$/ms.exec(page)!;

describe('the page about the house', () => {
  test('draws every room of lib, and no other', () => {
    expect([...drawnRooms()].sort()).toEqual([...roomsOfTree()].sort());
  });

  test('draws every import between rooms, and no other', () => {
    expect([...drawnArrows()].sort()).toEqual([...arrowsOfTree()].sort());
  });

  test('has each message of the lint rule, and no other', () => {
    const messages = biome.overrides.flatMap(({ linter: { rules } }) =>
      (rules.style?.noRestrictedImports.options.patterns ?? []).map(({ message }) => message),
    );
    const [, table = ''] = /^\| in \| the rule \|\n\| --- \| --- \|\n((?:\|.*\n)+)/m.exec(page)!;
    const told = table
      .trimEnd()
      .split('\n')
      .map((row) => row.split(' | ')[1]!.replace(/ \|$/, ''));
    expect(told.sort()).toEqual([...new Set(messages)].sort());
  });
});

/** The lines of the drawing that have an arrow: whoever stands on the left imports all that stand on the right. */
function drawnArrows(): Set<string> {
  const lines = [...drawing.matchAll(/^ *(\S.*) --> (.*)$/gm)];
  return new Set(
    lines.flatMap(([, from, to]) =>
      from!.split(' & ').flatMap((left) => to!.split(' & ').map((right) => `${left} --> ${right}`)),
    ),
  );
}

function drawnRooms(): Set<string> {
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

/** The room of a file: a folder of lib, a room of its core, or one of the two folders beside lib. */
function roomOf(file: string): string {
  const [top = '', room = '', door = '', rest] = file.split('/');
  if (top !== 'lib') return top;
  if (room.endsWith('.ts')) return 'lib';
  if (room !== 'core' || rest === undefined) return room;
  return SHARED_MODULES.has(door) ? door : `core/${door}`;
}

function sources(): string[] {
  return ['bin', 'lambda', 'lib'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => `${folder}/${name.replaceAll('\\', '/')}`),
  );
}

function roomsOfTree(): Set<string> {
  return new Set(sources().map(roomOf));
}

/** Who is outside the core imports the core: which of its rooms, the drawing does not tell. */
function arrowsOfTree(): Set<string> {
  const files = new Set(sources());
  const arrows = [...files].flatMap((file) => {
    const text = readFileSync(join(ROOT, file), 'utf8');
    return [...text.matchAll(/ from '(\.[^']*)'/g)].flatMap(([, path]) => {
      const target = posix.join(posix.dirname(file), path!);
      const imported = [`${target}.ts`, `${target}/index.ts`].find((each) => files.has(each));
      return imported === undefined ? [] : [[roomOf(file), roomOf(imported)] as const];
    });
  });
  const isOfCore = (room: string) => room.startsWith('core/') || SHARED_MODULES.has(room);
  return new Set(
    arrows
      .map(([from, to]) => [from, isOfCore(to) && !isOfCore(from) ? 'core' : to] as const)
      .filter(([from, to]) => from !== to && from !== 'core')
      .map(([from, to]) => `${from} --> ${to}`),
  );
}
