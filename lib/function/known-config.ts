import type { Stack } from 'aws-cdk-lib';
import { rejectToken } from '../construct/props';
import { isObject } from '../core/kernel/checks';

/** Parses a configuration at synthesis. The result has an empty text in place of every token. */
export function knownConfig<C>(stack: Stack, json: string): C {
  const resolved: string | { 'Fn::Join': [string, unknown[]] } = stack.resolve(json);
  const parts = typeof resolved === 'string' ? [resolved] : resolved['Fn::Join'][1];
  return JSON.parse(parts.filter((part) => typeof part === 'string').join(''));
}

/** @throws an error with the code `INVALID_ARGUMENT` if a value, or a column of a value, is a token */
export function rejectTokens(field: string, values: unknown): void {
  rejectToken(field, values, 'values');
  if (!isObject(values)) return;
  for (const [name, value] of Object.entries(values)) {
    rejectToken(field, name, 'values');
    rejectTokens(`${field}[${name}]`, value);
  }
}

/** A JSON object with configurations by name, sorted by name. The configurations may contain tokens. */
export function configsByName(named: readonly (readonly [string, { toConfigJson(): string }])[]): string {
  const sorted = [...named].sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${sorted.map(([name, store]) => `${JSON.stringify(name)}:${store.toConfigJson()}`).join()}}`;
}
