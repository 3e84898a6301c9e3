/** A type in the assembly of jsii, with the parts that this script reads. */
interface AssemblyType {
  readonly kind: 'class' | 'interface' | 'enum';
  readonly name: string;
  readonly base?: string;
  readonly docs?: { readonly summary?: string; readonly example?: string };
}

/** One page of the reference: its title, a sentence about the page, and the names of its types. */
export interface ConstructPage {
  readonly title: string;
  readonly about: string;
  readonly names: string[];
}

export type Assembly = { readonly types: Readonly<Record<string, AssemblyType>> };

/** The page of the types that several constructs use. */
const SHARED_PAGE = 'shared-types';

/**
 * Divides the types of the library into pages. The page of a construct has the types whose name contains the name of
 * the construct, and the types that only this construct uses. A type that several constructs use is on the page of
 * shared types.
 */
export function constructPages({ types }: Assembly): Map<string, ConstructPage> {
  const all = Object.values(types);
  const heads = Object.keys(types).flatMap((id) => (isConstruct(id, types) ? [types[id]!] : []));
  const pages = new Map(
    heads.map(({ name, docs }) => [
      name,
      { title: name, about: `\`${name}\`: ${docs?.summary}`, names: [] as string[] },
    ]),
  );
  const shared = {
    title: 'Types that several constructs use',
    about: 'Types that several constructs use.',
    names: [] as string[],
  };
  const owner = (name: string) =>
    longest([...pages.keys()].filter((head) => name.includes(head))) ??
    onlyOne([...pages.keys()].filter((head) => mentions(head, name, types)));
  for (const { name } of all) (pages.get(owner(name) ?? '') ?? shared).names.push(name);
  return new Map([...[...pages].map(([head, page]) => [fileName(head), page] as const), [SHARED_PAGE, shared]]);
}

/**
 * Whether users create this class, as a construct or as a part of a table. Base classes and value classes have no page.
 */
function isConstruct(id: string, types: Assembly['types']): boolean {
  const { kind, name } = types[id]!;
  return kind === 'class' && !name.endsWith('Base') && (name === 'ShardedIndex' || extendsConstruct(id, types));
}

function extendsConstruct(id: string, types: Assembly['types']): boolean {
  const base = types[id]?.base;
  return base !== undefined && (!(base in types) || extendsConstruct(base, types));
}

/** Whether a construct, or a type whose name contains the name of the construct, has the type `name` in a signature. */
function mentions(head: string, name: string, types: Assembly['types']): boolean {
  const called = Object.values(types).filter((type) => type.name.includes(head));
  return called.some((type) => JSON.stringify(type).includes(`.${name}"`));
}

function longest(names: readonly string[]): string | undefined {
  return [...names].sort((a, b) => b.length - a.length)[0];
}

function onlyOne(names: readonly string[]): string | undefined {
  return names.length === 1 ? names[0] : undefined;
}

function fileName(head: string): string {
  return head.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase();
}
