import { balancedKeyVectors } from './balanced-keys';
import { shardedItemVectors } from './sharded-items';
import { shardedRowVectors } from './sharded-rows';

/** The test vectors for writers in other languages, by file. The core calculates the vectors. */
export const VECTORS: Record<string, () => object> = {
  'docs/sharded-item-vectors.json': shardedItemVectors,
  'docs/sharded-row-vectors.json': shardedRowVectors,
  'docs/balanced-key-vectors.json': balancedKeyVectors,
};

/** The text of a file of vectors, with one line for each vector, and binary in base64. */
export function vectorText(vectors: object): string {
  const fields = Object.entries(vectors).map(([name, value]) => `  ${JSON.stringify(name)}: ${linesOf(value)}`);
  return `{\n${fields.join(',\n')}\n}\n`;
}

function linesOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[\n${value.map((each) => `    ${inOneLine(each)}`).join(',\n')}\n  ]`;
  const entries = Object.entries(value).map(([name, each]) => `    ${JSON.stringify(name)}: ${inOneLine(each)}`);
  return `{\n${entries.join(',\n')}\n  }`;
}

function inOneLine(value: unknown): string {
  return JSON.stringify(value, (_, inner) =>
    inner instanceof Uint8Array ? Buffer.from(inner).toString('base64') : inner,
  );
}
