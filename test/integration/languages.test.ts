import { readFileSync } from 'node:fs';
import { ValueNotAllowedError } from '../../lambda/value-not-allowed-error';
import * as core from '../../lib/core';

/** What test/conformance/languages plays, and what docstrings say, against what jsii says is public. */

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

test('the program of every method, which is translated into Python, uses every public construct and every public method', () => {
  const words = new Set(readFileSync('test/conformance/languages/every-method.ts', 'utf8').split(/\W+/));
  const unused = [
    ...classes.filter((type) => !words.has(type.name) && !isMade(type)),
    ...methods.filter(({ name }) => !words.has(name)),
  ];
  expect([...new Set(unused.map(({ name }) => name))]).toEqual([]);
});

/** Whether users cannot make one: it is a property of another construct, or a method of one returns it. */
function isMade({ name, initializer, methods = [] }: JsiiType): boolean {
  return name === 'ProducerFifoQueue' || (initializer === undefined && !methods.some((method) => method.static));
}

describe('what docstrings say of errors', () => {
  const docstrings = docsOf(Object.values(types));
  const codes = [...Object.values(core), ValueNotAllowedError].flatMap((value) =>
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
