import { readFileSync } from 'node:fs';
import { ValueNotAllowedError } from '../../lambda/value-not-allowed-error';
import * as core from '../../lib/core';

/** Compares the program of test/conformance/languages and the docstrings with the public API that jsii describes. */

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

test('every-method.ts uses every public construct and every public method', () => {
  const words = new Set(readFileSync('test/conformance/languages/every-method.ts', 'utf8').split(/\W+/));
  const unused = [
    ...classes.filter((type) => !words.has(type.name) && !isCreatedByLibrary(type)),
    ...methods.filter(({ name }) => !words.has(name)),
  ];
  expect([...new Set(unused.map(({ name }) => name))]).toEqual([]);
});

/**
 * True for a type that only the library creates: callers get an instance from a property or a method of another
 * construct.
 */
function isCreatedByLibrary({ name, initializer, methods = [] }: JsiiType): boolean {
  return name === 'ProducerFifoQueue' || (initializer === undefined && !methods.some((method) => method.static));
}

describe('the errors in docstrings', () => {
  const docstrings = docsOf(Object.values(types));
  const codes = [...Object.values(core), ValueNotAllowedError].flatMap((value) =>
    typeof value === 'function' && 'code' in value ? [value.code] : [],
  );

  test('the docstrings name error codes, because other languages do not have the error classes', () => {
    const classNames = Object.keys(core).filter((name) => name.endsWith('Error'));
    expect(classNames.length).toBeGreaterThan(10);
    expect(classNames.filter((name) => docstrings.includes(name))).toEqual([]);
  });

  test('each named code exists in the library', () => {
    const promised = [...docstrings.matchAll(/\bcode `(\w+)`/g)].map(([, code]) => code);
    expect(promised.length).toBeGreaterThan(10);
    expect(codes).toEqual(expect.arrayContaining(promised));
  });
});

/** Returns all docstrings of the jsii assembly, at any depth. */
function docsOf(described: unknown): string {
  if (typeof described !== 'object' || described === null) return '';
  return Object.entries(described)
    .map(([name, inner]) => (name === 'docs' ? textsOf(inner) : docsOf(inner)))
    .join('\n');
}

function textsOf(docs: unknown): string {
  return typeof docs === 'object' && docs !== null ? Object.values(docs).map(textsOf).join('\n') : String(docs);
}
