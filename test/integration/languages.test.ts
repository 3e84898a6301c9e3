import { readFileSync } from 'node:fs';
import * as core from '../../lib/core';

/** The apps of test/conformance/languages, which npm run languages builds and compares, against what jsii says is public. */

interface JsiiType {
  kind: 'class' | 'interface' | 'enum';
  name: string;
  abstract?: boolean;
  initializer?: object;
  methods?: { name: string; static?: boolean; protected?: boolean }[];
}

const { types } = JSON.parse(readFileSync('.jsii', 'utf8')) as { types: Record<string, JsiiType> };
const classes = Object.values(types).filter(({ kind, abstract }) => kind === 'class' && !abstract);
const methods = Object.values(types).flatMap((type) => type.methods?.filter((method) => !method.protected) ?? []);

const capital = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);
const snake = (name: string) => name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();

test.each<[string, string, (method: string) => string]>([
  ['TypeScript', 'typescript/app.ts', (method) => method],
  ['Python', 'python/app.py', snake],
  ['Java', 'java/src/main/java/Languages.java', (method) => method],
  ['Go', 'go/app.go', capital],
  ['.NET', 'dotnet/Languages.cs', capital],
])('the app in %s uses every public construct and every public method', (_, file, inCase) => {
  const words = new Set(
    readFileSync(`test/conformance/languages/${file}`, 'utf8').split(/\W+|(?<=[A-Za-z])_(?=[A-Z])|\bNew(?=[A-Z])/),
  );
  const unused = [
    ...classes.filter((type) => !words.has(type.name) && !isMade(type)).map(({ name }) => name),
    ...methods.map(({ name }) => inCase(name)).filter((name) => !words.has(name)),
  ];
  expect([...new Set(unused)]).toEqual([]);
});

/** Whether users cannot make one: it is a property of another construct, or a method of one returns it. */
function isMade({ name, initializer, methods = [] }: JsiiType): boolean {
  return name === 'ProducerFifoQueue' || (initializer === undefined && !methods.some((method) => method.static));
}

describe('what docstrings say of errors', () => {
  const docstrings = docsOf(Object.values(types));
  const codes = Object.values(core).flatMap((value) =>
    typeof value === 'function' && 'code' in value ? [value.code] : [],
  );

  test('is their codes, for their classes do not cross to other languages', () => {
    const classNames = Object.keys(core).filter((name) => name.endsWith('Error'));
    expect(classNames.length).toBeGreaterThan(10);
    expect(classNames.filter((name) => docstrings.includes(name))).toEqual([]);
  });

  test('are codes that the library has', () => {
    const promised = [...docstrings.matchAll(/\bcode `(\w+)`/g)].map(([, code]) => code);
    expect(promised.length).toBeGreaterThan(10);
    expect(codes).toEqual(expect.arrayContaining(promised));
  });
});

/** Every docstring at any depth of what jsii has written down. */
function docsOf(described: unknown): string {
  if (typeof described !== 'object' || described === null) return '';
  return Object.entries(described)
    .map(([name, inner]) => (name === 'docs' ? textsOf(inner) : docsOf(inner)))
    .join('\n');
}

function textsOf(docs: unknown): string {
  return typeof docs === 'object' && docs !== null ? Object.values(docs).map(textsOf).join('\n') : String(docs);
}
