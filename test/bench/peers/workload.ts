import { NUMBER_DIGITS } from './endpoint';

/** The records of every peer. The programs in other languages create the same records. */
export const KEYS = 1_000;
export const RECORD_BYTES = 100;

export interface WorkRecord {
  readonly partitionKey: string;
  readonly data: Buffer;
}

/** Returns `count` records, starting with number `first`. */
export function* workRecords(first: number, count: number): Generator<WorkRecord> {
  for (let number = first; number < first + count; number++) {
    const digits = String(number).padStart(NUMBER_DIGITS, '0');
    yield { partitionKey: `key-${number % KEYS}`, data: Buffer.from(digits.padEnd(RECORD_BYTES, 'x')) };
  }
}
