import { EvenShardsError, InvalidArgumentError } from '../kernel/errors';
import { RecentMap } from '../kernel/recent-map';
import { parseHashKey } from '../stream-format/hash-key-space';
import type { RecordSequence } from '../stream-format/record-sequence';
import { NumberRanges } from './number-ranges';

/** A record that may be a copy of an earlier one. The user records that `deaggregate` returns have this shape. */
export interface SequencedRecord {
  /** The partition key of the record. */
  partitionKey: string;
  /** The explicit hash key of the record. Absent if the record was put without one. */
  explicitHashKey?: bigint;
  /** The sequence of the record. Absent if the record is not sequenced. */
  sequence?: RecordSequence;
  /** The data of the record, as bytes. `deduplicate` knows a fence by them. */
  data?: unknown;
}

/** How far a consumer has read the records that one producer wrote with one partition key and one hash key. */
export interface SeriesHistory {
  /** The producer of the records. */
  producerId: string;
  /** The explicit hash key of the records, in decimal. Absent if they have none. */
  explicitHashKey?: string;
  /** The highest number that the consumer has taken or set aside, in decimal. */
  sequenceNumber: string;
  /** The numbers up to it that the consumer has set aside and not taken since. Absent if there are none. */
  setAside?: { from: string; to: string }[];
}

/** How far a consumer has read the records of one partition key. It is plain JSON. */
export interface KeyHistory {
  /** The partition key. */
  partitionKey: string;
  /** What the consumer has taken from each producer. The producer that wrote last comes last. */
  producers: SeriesHistory[];
}

/** How much a `SequenceHistory` remembers, and what it starts with. */
export interface SequenceHistoryOptions {
  /**
   * The most partition keys to remember, at least 1. Beyond it, the history forgets the key whose last record is
   * oldest. Every copy of a forgotten key passes, so give at least the number of keys that are written in the time
   * that the consumer may read again.
   * @default 100000
   */
  maxKeys?: number;
  /**
   * The most producers of one key to remember, at least 1. A producer counts once for each hash key with which it wrote
   * the key. Beyond it, the history forgets the producer whose last record is oldest.
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
 * The history holds as many set-aside records of the key as it can. The record was neither taken nor set aside. Take some
 * of those that are set aside first.
 */
export class SetAsideLimitError extends EvenShardsError {
  constructor() {
    super(
      'SET_ASIDE_LIMIT',
      `a partition key has ${MOST_SET_ASIDE} ranges of records set aside, the most that a history holds: take some of them first`,
    );
  }
}

/** Ranges of consecutive numbers, for each producer and hash key of a key. They take some 50 KB of a saved history. */
const MOST_SET_ASIDE = 1_000;

const DECIMAL = /^\d{1,40}$/;

/** The records that one producer wrote with one partition key and one hash key: their numbers grow along their shard. */
interface Series {
  readonly producerId: string;
  readonly explicitHashKey: bigint | undefined;
  highest: bigint;
  setAside?: NumberRanges;
}

/** The series of one key, the one that was written last at the end. Most keys have one, for which a map takes three times the memory. */
type SeriesOfKey = readonly Series[] | RecentMap<string, Series>;

/** In a longer list, a look at each series would take longer than a map does. */
const MOST_LISTED = 8;

/**
 * Remembers which sequenced records a consumer has taken, so that the consumer can recognise copies of them. Use it
 * with `deduplicate`, or on its own if you process records in another way.
 *
 * It keeps one number for each producer and hash key of each partition key: the highest that the consumer has taken.
 * That is enough. Records with one hash key are on one shard, or on its descendants, and a producer sends a record of a
 * key only after the record before is acknowledged. So a record whose number is not above the highest one of its hash
 * key must be a copy. The history does not know whether a record is missing, because a producer may skip numbers.
 *
 * When a partition key moves to another hash key, and so to another shard, its records with the old and with the new
 * hash key are told apart. So whichever shard the consumer reads first, no record is taken for a copy by mistake.
 *
 * A history is that of one stream: the numbers of one stream say nothing about those of another.
 *
 * Beyond its bounds the history forgets. It then misses a copy whose key or producer it has forgotten since the first
 * record. A copy comes late by the time that a request can be in flight: seconds at most, not hours. A consumer that
 * reads a stream again needs a history of all keys that it reads again.
 */
export class SequenceHistory {
  private readonly maxProducersPerKey: number;
  /** By partition key. */
  private readonly keys: RecentMap<string, SeriesOfKey>;

  /**
   * @throws InvalidArgumentError if a bound is not a positive whole number, or if `saved` is not the result of `toJSON`
   */
  constructor({ maxKeys = 100_000, maxProducersPerKey = 16, saved = [] }: SequenceHistoryOptions = {}) {
    for (const [field, bound] of Object.entries({ maxKeys, maxProducersPerKey })) {
      if (!Number.isInteger(bound) || bound < 1)
        throw new InvalidArgumentError(field, bound, 'a positive whole number');
    }
    this.keys = new RecentMap(maxKeys);
    this.maxProducersPerKey = maxProducersPerKey;
    if (typeof Object(saved)[Symbol.iterator] !== 'function') throw notSaved(saved);
    for (const key of saved) this.restore(key);
  }

  /**
   * Whether a record is a copy of a record that was taken. It is false for a record that is not sequenced, and for one
   * that was set aside.
   */
  has(record: SequencedRecord): boolean {
    const series = this.seriesOf(record);
    if (series === undefined) return false;
    const { sequenceNumber } = record.sequence!;
    return sequenceNumber <= series.highest && !series.setAside?.has(sequenceNumber);
  }

  /** Remembers a record as taken. It does nothing if the record is not sequenced, or is a copy. */
  add(record: SequencedRecord): void {
    if (record.sequence === undefined || this.has(record)) return;
    const series = this.written(record);
    series.setAside?.delete(record.sequence.sequenceNumber);
  }

  /**
   * Goes past a fence: from now on, whatever its producer wrote before it with the same partition key and hash key counts
   * as a copy, even what never arrived. What was set aside stays so. `deduplicate` calls it. It does nothing if the fence
   * is not sequenced.
   */
  goPast(fence: SequencedRecord): void {
    if (fence.sequence !== undefined) this.written(fence);
  }

  /**
   * Goes past records that the consumer could not take, so that it takes them if they come again, even behind later
   * records of their key. Give it the record that failed and those of its key that you did not take because of it. It
   * leaves out records that are not sequenced, and copies.
   *
   * @throws SetAsideLimitError if 1,000 ranges of consecutive numbers of a key and producer are set aside already
   */
  setAside(records: Iterable<SequencedRecord>): void {
    for (const record of records) {
      if (record.sequence === undefined || this.has(record)) continue;
      const { sequenceNumber: number } = record.sequence;
      const before = this.seriesOf(record)?.setAside;
      if (before?.has(number)) continue;
      if (before?.count === MOST_SET_ASIDE) throw new SetAsideLimitError();
      const series = this.written(record);
      series.setAside ??= new NumberRanges();
      series.setAside.add({ from: number, to: number });
    }
  }

  /** The whole history as plain JSON, for a checkpoint. The key that was written last comes last. */
  toJSON(): KeyHistory[] {
    return [...this.keys].map(([partitionKey, ofKey]) => ({
      partitionKey,
      producers: (ofKey instanceof RecentMap ? Array.from(ofKey, ([, series]) => series) : ofKey).map(seriesJson),
    }));
  }

  private seriesOf({ partitionKey, explicitHashKey, sequence }: SequencedRecord): Series | undefined {
    const ofKey = this.keys.get(partitionKey);
    if (ofKey === undefined || sequence === undefined) return undefined;
    const { producerId } = sequence;
    if (ofKey instanceof RecentMap) return ofKey.get(seriesName({ producerId, explicitHashKey }));
    return ofKey.findLast((each) => each.producerId === producerId && each.explicitHashKey === explicitHashKey);
  }

  /** The series of a record, as the last one written, and with the record's number among those it is past. */
  private written(record: SequencedRecord): Series {
    const { partitionKey, explicitHashKey, sequence } = record;
    const { producerId, sequenceNumber } = sequence!;
    const series = this.seriesOf(record) ?? { producerId, explicitHashKey, highest: sequenceNumber };
    if (sequenceNumber > series.highest) series.highest = sequenceNumber;
    this.keys.set(partitionKey, this.asLast(series, this.keys.get(partitionKey)));
    return series;
  }

  /** The series of a key, of which one becomes the last, and the oldest one goes where they are too many. */
  private asLast(series: Series, ofKey: SeriesOfKey | undefined): SeriesOfKey {
    // A list that starts with its item has room for that one; an empty list gets room for 17.
    if (ofKey === undefined) return [series];
    if (ofKey instanceof RecentMap) {
      ofKey.set(seriesName(series), series);
      return ofKey;
    }
    if (ofKey.at(-1) === series) return ofKey;
    const others = ofKey.filter((each) => each !== series);
    const all = [...others, series].slice(-this.maxProducersPerKey);
    if (all.length <= MOST_LISTED) return all;
    const map = new RecentMap<string, Series>(this.maxProducersPerKey);
    for (const each of all) map.set(seriesName(each), each);
    return map;
  }

  private restore(key: KeyHistory): void {
    if (typeof key?.partitionKey !== 'string' || !Array.isArray(key.producers)) throw notSaved(key);
    for (const producer of key.producers) {
      const { producerId, explicitHashKey, sequenceNumber, setAside = [] }: Partial<SeriesHistory> = Object(producer);
      if (typeof producerId !== 'string' || !isDecimal(sequenceNumber) || !Array.isArray(setAside)) throw notSaved(key);
      const hashKey = typeof explicitHashKey === 'string' ? parseHashKey(explicitHashKey) : undefined;
      if (explicitHashKey !== undefined && hashKey === undefined) throw notSaved(key);
      const sequence = { producerId, sequenceNumber: BigInt(sequenceNumber) };
      const series = this.written({ partitionKey: key.partitionKey, explicitHashKey: hashKey, sequence });
      for (const range of setAside) {
        const { from, to }: { from?: unknown; to?: unknown } = Object(range);
        if (!isDecimal(from) || !isDecimal(to) || BigInt(from) > BigInt(to)) throw notSaved(key);
        series.setAside ??= new NumberRanges();
        series.setAside.add({ from: BigInt(from), to: BigInt(to) });
      }
    }
  }
}

function isDecimal(value: unknown): value is string {
  return typeof value === 'string' && DECIMAL.test(value);
}

function seriesName({ producerId, explicitHashKey }: Pick<Series, 'producerId' | 'explicitHashKey'>): string {
  return `${explicitHashKey}/${producerId}`;
}

function seriesJson({ producerId, explicitHashKey, highest, setAside }: Series): SeriesHistory {
  return {
    producerId,
    ...(explicitHashKey !== undefined && { explicitHashKey: explicitHashKey.toString() }),
    sequenceNumber: highest.toString(),
    ...(setAside?.count && { setAside: [...setAside].map(({ from, to }) => ({ from: `${from}`, to: `${to}` })) }),
  };
}

function notSaved(value: unknown): InvalidArgumentError {
  return new InvalidArgumentError('saved', value, 'the result of toJSON of a history');
}
