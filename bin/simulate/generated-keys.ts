import { createHash } from 'node:crypto';

/** The formats of generated keys: common formats of ids. */
export const KEY_FORMATS: Readonly<Record<string, (n: number) => string>> = {
  account: (n) => `account-${n + 1}`,
  number: (n) => String(n + 1),
  uuid: (n) => {
    const hex = createHash('sha1').update(String(n)).digest('hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  },
};

/** Few keys get several records each, because with few items the result would mostly be random. */
const MIN_RECORDS = 10_000;

/**
 * The maximum number of records, so that the simulation takes at most a few minutes. Each key has at least one record.
 */
const MAX_RECORDS = 20_000_000;

/**
 * Keys with their records: the nth key has 1 / n^skew of the records of the first key (Zipf's law), and at least one
 * record. In total, the keys have at least 10,000 records.
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
