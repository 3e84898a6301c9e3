import { createHash } from 'node:crypto';
import type { RecordSequence } from '../stream-format/record-sequence';
import type { UserRecord } from './deaggregate';

/**
 * The position of a record in a series: among the records of a key that come from one producer, or from one shard. A later record
 * of the series has a higher number.
 */
export interface SequencePosition {
  /** Names the series. */
  series: string;
  /** The number as text. The texts compare as the numbers do: use `<`, or a column with the collation "C". */
  number: string;
}

/**
 * The position as a handler gets it. Its series names the key, too, and so is unique in a store of all keys. It is a hash of 43
 * characters, because a partition key can be too long for a store, or have characters that the store rejects.
 *
 * @param key the key in whose order the consumer handles the record
 */
export function positionForHandler(key: string, { series, number }: SequencePosition): SequencePosition {
  const ofKey = JSON.stringify([key, series]);
  return { series: createHash('sha256').update(ofKey).digest('base64url'), number };
}

/** 132 bits: among a million sources, two have the same name with a probability below 10^-27. */
const SOURCE_NAME_CHARACTERS = 22;
/** Behind the ARN of a stream, where its ARN is that of a consumer with enhanced fan-out. */
const FAN_OUT_CONSUMER = /(?<=^arn:[^:]*:kinesis:[^:]*:[^:]*:stream\/[^/]+)\/consumer\/.*$/;

/**
 * The name of a source in series. Two mappings that read one stream, one of them with enhanced fan-out, have one source. It is a
 * hash, because the series of a key are kept many times, and an ARN is long.
 */
export function sourceName(source: string): string {
  const stream = source.replace(FAN_OUT_CONSUMER, '');
  return createHash('sha256').update(stream).digest('base64url').slice(0, SOURCE_NAME_CHARACTERS);
}

/** The name of the source in a position. */
export function sourceOf({ series }: SequencePosition): string {
  return series.split('/')[1]!;
}

/**
 * The position that a producer gave its record. It counts for one source: an outbox writes rows of one producer to several streams,
 * and the numbers of one stream say nothing about those of another.
 */
export function positionInSequence(
  source: string,
  { producerId, sequenceNumber }: RecordSequence,
  explicitHashKey?: bigint,
): SequencePosition {
  return {
    series: `producer/${source}/${explicitHashKey ?? ''}/${producerId}`,
    number: comparable(`${sequenceNumber}`),
  };
}

/** The positions in a Kinesis record: that of the record in its shard, and in the record that of each user record in it. */
export function positionsInShard(
  source: string,
  record: { shardId: string; sequenceNumber: string },
): (subSequenceNumber: number) => SequencePosition {
  const series = `shard/${source}/${record.shardId}`;
  const number = comparable(record.sequenceNumber);
  return (subSequenceNumber) => ({ series, number: withSubNumber(number, subSequenceNumber) });
}

/**
 * The position of a user record in a Kinesis record that was parked whole, among the records of the key that was parked. A sequence
 * counts by the key of the user record, so the series names that key, too, if it is another one.
 *
 * @param whole the position of the Kinesis record in its shard
 */
export function positionInParkedKey(
  parkedKey: string,
  whole: SequencePosition,
  userRecord: UserRecord,
): SequencePosition {
  const { partitionKey, explicitHashKey, subSequenceNumber, sequence } = userRecord;
  if (sequence === undefined) return { series: whole.series, number: withSubNumber(whole.number, subSequenceNumber) };
  const position = positionInSequence(sourceOf(whole), sequence, explicitHashKey);
  if (partitionKey === parkedKey) return position;
  // The length tells where the key ends, which may have any character.
  return { series: `parked/${partitionKey.length}/${partitionKey}/${position.series}`, number: position.number };
}

/** The number of a Kinesis record, and the position of a user record in it. */
function withSubNumber(number: string, subSequenceNumber: number): string {
  return `${number.split('.', 1)[0]}.${String(subSequenceNumber).padStart(SUB_NUMBER_DIGITS, '0')}`;
}

const SUB_NUMBER_DIGITS = 10;

/** Puts the count of the digits before the digits, so that the texts compare as the numbers do. */
function comparable(digits: string): string {
  return `${String(digits.length).padStart(3, '0')}:${digits}`;
}
