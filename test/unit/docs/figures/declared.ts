import { readFileSync } from 'node:fs';

/**
 * Reads the number of a constant, a default or a property from its source: `const MOST = 10 * 1_024`, `most ?? 10_000`,
 * `timeout: Duration.minutes(15)`. Most of these constants are not exported.
 */
export function declared(path: string, name: string): number {
  const declaration = new RegExp(
    `\\b${name}\\b(?::[^=\\n]+)?\\s*(?:=|\\?\\?|:)\\s*(?:[\\w.]+\\()?(\\d[\\d_.]*(?: [*/+] \\d[\\d_.]*)*)`,
  );
  const [, arithmetic] = declaration.exec(readFileSync(path, 'utf8')) ?? [];
  if (arithmetic === undefined) throw new Error(`${path} declares no number ${name}`);
  return Number(new Function(`return ${arithmetic.replaceAll('_', '')}`)());
}
