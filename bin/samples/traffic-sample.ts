import { describeValue } from '../../lib/core/kernel/errors';
import { InvalidInputError } from '../invalid-input-error';
import { type SampleRecord, sampleRecords } from './sample-records';

/** The statistics of real traffic for the planner and the simulator. */
export interface TrafficSample {
  records: number;
  bytes: number;
  /** Records by key, in the order in which the keys appeared. */
  keys: ReadonlyMap<string, number>;
  /** The number of records by size in bytes. */
  sizes: ReadonlyMap<number, number>;
}

interface SampleOptions {
  /** The field that holds the key. */
  key: string;
  /** The field that identifies a record. Default: the number of the record among the records of its key. */
  id?: string;
  /** Called for each record. */
  onRecord?(key: string, id: string): void;
  /** Called from time to time with the number of records. */
  onProgress?(records: number): void;
}

const RECORDS_BETWEEN_PROGRESS = 100_000;

/**
 * Reads a sample with one record a line. Keeps only a counter for each key and each size.
 *
 * @throws InvalidInputError with the file and the line of an invalid record
 */
export async function readSample(files: readonly string[], options: SampleOptions): Promise<TrafficSample> {
  const keys = new Map<string, number>();
  const sizes = new Map<number, number>();
  let records = 0;
  let bytes = 0;
  for await (const line of sampleRecords(files)) {
    const key = field(line, options.key);
    const before = keys.get(key) ?? 0;
    keys.set(key, before + 1);
    const { bytes: size } = line;
    sizes.set(size, (sizes.get(size) ?? 0) + 1);
    records += 1;
    bytes += size;
    options.onRecord?.(key, options.id === undefined ? `${key}/${before + 1}` : field(line, options.id));
    if (records % RECORDS_BETWEEN_PROGRESS === 0) options.onProgress?.(records);
  }
  return { records, bytes, keys, sizes };
}

/** The busiest key of a sample, and its share of the records. */
export function busiestKey({ keys, records }: Pick<TrafficSample, 'keys' | 'records'>): { key: string; share: number } {
  const [key, count] = [...keys].reduce((most, entry) => (entry[1] > most[1] ? entry : most));
  return { key, share: count / records };
}

/** Runs a long task, and prints its progress if standard error is a terminal. */
export async function withProgress<T>(
  what: string,
  run: (onProgress?: (done: number) => void) => Promise<T>,
): Promise<T> {
  if (!process.stderr.isTTY) return run();
  try {
    return await run((done) => process.stderr.write(`\r${what}: ${done.toLocaleString('en')}\u001b[K`));
  } finally {
    process.stderr.write('\r\u001b[K');
  }
}

function field({ event, file, line }: SampleRecord, name: string): string {
  const value = Object.hasOwn(event, name) ? event[name] : undefined;
  if (value !== '' && ['string', 'number', 'boolean'].includes(typeof value)) return String(value);
  throw new InvalidInputError(
    `${file}, line ${line}: field ${name} must be a non-empty string, a number or a boolean, got ${describeValue(value)}`,
  );
}
