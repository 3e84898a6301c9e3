import { InvalidArgumentError } from '../foundation/errors';
import type { RecordSequence } from '../foundation/record-sequence';

/** A record that may be a second copy: one of `deaggregate`, usually. */
export interface SequencedRecord {
  partitionKey: string;
  sequence?: RecordSequence;
}

/** How far a consumer has come with a partition key. Plain JSON. */
export interface KeyHistory {
  partitionKey: string;
  /** The last record taken of each producer, the producers that wrote last at the end. */
  producers: { producerId: string; sequenceNumber: string }[];
}

export interface SequenceHistoryOptions {
  /**
   * How many partition keys are remembered; beyond that the one that was not written for the longest is forgotten.
   * @default 100000
   */
  maxKeys?: number;
  /**
   * How many producers of a key are remembered; beyond that the one that has not written for the longest is forgotten.
   * @default 16
   */
  maxProducersPerKey?: number;
  /** What `toJSON` said of an earlier history, or the parts of it that are needed now. */
  saved?: Iterable<KeyHistory>;
}

/**
 * Remembers which counted records a consumer has taken, to tell second copies of them.
 *
 * It keeps one number for each producer of each partition key, the highest: a producer sends a record of a key when the
 * one before is acknowledged, so the first copy of a record never comes behind a later record of its key, and whatever
 * does is a copy. It never needs to know what is missing, and it cannot tell: numbers may be skipped.
 *
 * It forgets beyond its bounds. A copy passes if its key or its producer was forgotten meanwhile; copies come late by
 * the time a request can be under way, seconds at most, not hours.
 */
export class SequenceHistory {
  private readonly maxKeys: number;
  private readonly maxProducersPerKey: number;
  /** Producer to highest number, by partition key; both maps have what was written last at the end. */
  private readonly keys = new Map<string, Map<string, bigint>>();

  /** @throws InvalidArgumentError if a bound is no positive whole number, or what was saved is no history */
  constructor({ maxKeys = 100_000, maxProducersPerKey = 16, saved = [] }: SequenceHistoryOptions = {}) {
    for (const [field, bound] of Object.entries({ maxKeys, maxProducersPerKey })) {
      if (!Number.isInteger(bound) || bound < 1)
        throw new InvalidArgumentError(field, bound, 'a positive whole number');
    }
    this.maxKeys = maxKeys;
    this.maxProducersPerKey = maxProducersPerKey;
    for (const key of saved) this.restore(key);
  }

  /** Whether a record is a second copy. Never of a record that is not counted. */
  has({ partitionKey, sequence }: SequencedRecord): boolean {
    if (sequence === undefined) return false;
    const last = this.keys.get(partitionKey)?.get(sequence.producerId);
    return last !== undefined && sequence.sequenceNumber <= last;
  }

  /** Remembers a record as taken. Does nothing for one that is not counted, or was taken before. */
  add(record: SequencedRecord): void {
    const { partitionKey, sequence } = record;
    if (sequence === undefined || this.has(record)) return;
    const producers = this.keys.get(partitionKey) ?? new Map<string, bigint>();
    putLast(producers, sequence.producerId, sequence.sequenceNumber, this.maxProducersPerKey);
    putLast(this.keys, partitionKey, producers, this.maxKeys);
  }

  /** All of it, for `JSON.stringify` and for a checkpoint; the keys that were written last at the end. */
  toJSON(): KeyHistory[] {
    return [...this.keys].map(([partitionKey, producers]) => ({
      partitionKey,
      producers: [...producers].map(([producerId, number]) => ({ producerId, sequenceNumber: number.toString() })),
    }));
  }

  private restore(key: KeyHistory): void {
    if (typeof key?.partitionKey !== 'string' || !Array.isArray(key.producers)) throw notSaved(key);
    for (const { producerId, sequenceNumber } of key.producers) {
      if (typeof producerId !== 'string' || !/^\d{1,40}$/.test(sequenceNumber)) throw notSaved(key);
      this.add({ partitionKey: key.partitionKey, sequence: { producerId, sequenceNumber: BigInt(sequenceNumber) } });
    }
  }
}

/** Sets an entry as the map's last, and deletes its first beyond the bound. */
function putLast<K, V>(map: Map<K, V>, key: K, value: V, bound: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > bound) map.delete(map.keys().next().value as K);
}

function notSaved(value: unknown): InvalidArgumentError {
  return new InvalidArgumentError('saved', value, 'what toJSON of a history returned');
}
