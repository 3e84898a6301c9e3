import { createHash } from 'node:crypto';

/** How generated keys look: what people use as ids. */
export const KEY_FORMATS: Readonly<Record<string, (n: number) => string>> = {
  account: (n) => `account-${n + 1}`,
  number: (n) => String(n + 1),
  uuid: (n) => {
    const hex = createHash('sha1').update(String(n)).digest('hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  },
};

/** Few keys get several records each, or chance would be all there is to see of items. */
const MIN_RECORDS = 10_000;

/** Each record is placed, so that there are no more than can be in minutes, but for one of each key. */
const MAX_RECORDS = 20_000_000;

/**
 * Keys with their records: the nth has 1 / n^skew of what the first has (Zipf's law), but one at least, and there are
 * 10,000 or more.
 */
export function generatedKeys(count: number, skew: number, keyOf: (n: number) => string): Map<string, number> {
  const keys = new Map<string, number>();
  const partOf = (n: number) => (count / (n + 1)) ** skew;
  let parts = 0;
  for (let n = 0; n < count; n++) parts += partOf(n);
  const last = Math.min(Math.ceil(MIN_RECORDS / count), MAX_RECORDS / parts);
  for (let n = 0; n < count; n++) keys.set(keyOf(n), Math.max(1, Math.round(last * partOf(n))));
  return keys;
}
