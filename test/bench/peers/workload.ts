import { NUMBER_DIGITS } from './endpoint';

/** The work that every peer does: each record with its key, and the outcome of each awaited. The other languages' programs repeat it. */
export const KEYS = 1_000;
export const RECORD_BYTES = 100;

export interface WorkRecord {
  readonly partitionKey: string;
  readonly data: Buffer;
}

/** Records number `first` and on. */
export function* workRecords(first: number, count: number): Generator<WorkRecord> {
  for (let number = first; number < first + count; number++) {
    const digits = String(number).padStart(NUMBER_DIGITS, '0');
    yield { partitionKey: `key-${number % KEYS}`, data: Buffer.from(digits.padEnd(RECORD_BYTES, 'x')) };
  }
}
