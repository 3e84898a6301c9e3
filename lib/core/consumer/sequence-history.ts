import { InvalidArgumentError } from '../foundation/errors';
import type { RecordSequence } from '../foundation/record-sequence';

/** A record that may be a copy of an earlier one. The user records that `deaggregate` returns have this shape. */
export interface SequencedRecord {
  /** The partition key of the record. */
  partitionKey: string;
  /** The sequence of the record. Absent if the record is not sequenced. */
  sequence?: RecordSequence;
}

/** How far a consumer has read the records of one partition key. It is plain JSON. */
export interface KeyHistory {
  /** The partition key. */
  partitionKey: string;
  /** The highest number that the consumer has taken from each producer. The producer that wrote last comes last. */
  producers: { producerId: string; sequenceNumber: string }[];
}

/** How much a `SequenceHistory` remembers, and what it starts with. */
export interface SequenceHistoryOptions {
  /**
   * The most partition keys to remember, at least 1. Beyond it, the history forgets the key whose last record is
   * oldest.
   * @default 100000
   */
  maxKeys?: number;
  /**
   * The most producers of one key to remember, at least 1. Beyond it, the history forgets the producer whose last
   * record is oldest.
   * @default 16
   */
  maxProducersPerKey?: number;
  /**
   * The result of `toJSON` of an earlier history, or the part of it for the keys that the consumer will read.
   * @default the history starts empty
   */
  saved?: Iterable<KeyHistory>;
}

/**
 * Remembers which sequenced records a consumer has taken, so that the consumer can recognise copies of them. Use it
 * with `deduplicate`, or on its own if you process records in another way.
 *
 * It keeps one number for each producer of each partition key: the highest that the consumer has taken. That is enough.
 * A producer sends a record of a key only after the record before is acknowledged, so a record whose number is not
 * above the highest one must be a copy. The history does not know whether a record is missing, because a producer may
 * skip numbers.
 *
 * Beyond its bounds the history forgets. It then misses a copy whose key or producer it has forgotten since the first
 * record. A copy comes late by the time that a request can be in flight: seconds at most, not hours.
 */
export class SequenceHistory {
  private readonly maxKeys: number;
  private readonly maxProducersPerKey: number;
  /**
   * By partition key, the highest number of each producer. In both maps, the entry that was written last comes last.
   */
  private readonly keys = new Map<string, Map<string, bigint>>();

  /**
   * @throws InvalidArgumentError if a bound is not a positive whole number, or if `saved` is not the result of `toJSON`
   */
  constructor({ maxKeys = 100_000, maxProducersPerKey = 16, saved = [] }: SequenceHistoryOptions = {}) {
    for (const [field, bound] of Object.entries({ maxKeys, maxProducersPerKey })) {
      if (!Number.isInteger(bound) || bound < 1)
        throw new InvalidArgumentError(field, bound, 'a positive whole number');
    }
    this.maxKeys = maxKeys;
    this.maxProducersPerKey = maxProducersPerKey;
    for (const key of saved) this.restore(key);
  }

  /** Whether a record is a copy of a record that was taken. It is false for a record that is not sequenced. */
  has({ partitionKey, sequence }: SequencedRecord): boolean {
    if (sequence === undefined) return false;
    const last = this.keys.get(partitionKey)?.get(sequence.producerId);
    return last !== undefined && sequence.sequenceNumber <= last;
  }

  /** Remembers a record as taken. It does nothing if the record is not sequenced, or is a copy. */
  add(record: SequencedRecord): void {
    const { partitionKey, sequence } = record;
    if (sequence === undefined || this.has(record)) return;
    const producers = this.keys.get(partitionKey) ?? new Map<string, bigint>();
    putLast(producers, sequence.producerId, sequence.sequenceNumber, this.maxProducersPerKey);
    putLast(this.keys, partitionKey, producers, this.maxKeys);
  }

  /** The whole history as plain JSON, for a checkpoint. The key that was written last comes last. */
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

/** Sets an entry as the last of the map. Deletes the first entry if the map then exceeds the bound. */
function putLast<K, V>(map: Map<K, V>, key: K, value: V, bound: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > bound) map.delete(map.keys().next().value as K);
}

function notSaved(value: unknown): InvalidArgumentError {
  return new InvalidArgumentError('saved', value, 'the result of toJSON of a history');
}
