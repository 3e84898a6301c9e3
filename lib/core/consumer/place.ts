import { createHash } from 'node:crypto';
import type { RecordSequence } from '../stream-format/record-sequence';
import type { UserRecord } from './deaggregate';

/**
 * Where a record stands among the records of its key that have one origin: one producer with one hash key, or one shard, of one
 * source. The numbers of a series grow along its shard.
 */
export interface Place {
  /** Names the source, and the producer or the shard in it. */
  series: string;
  /** A text that compares as the numbers do. */
  number: string;
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

/** The name of the source in a place. */
export function sourceOf({ series }: Place): string {
  return series.split('/')[1]!;
}

/**
 * The place that a producer gave its record. It counts for one source: an outbox writes rows of one producer to several streams,
 * and the numbers of one stream say nothing about those of another.
 */
export function placeOfSequence(
  source: string,
  { producerId, sequenceNumber }: RecordSequence,
  explicitHashKey?: bigint,
): Place {
  return {
    series: `producer/${source}/${explicitHashKey ?? ''}/${producerId}`,
    number: comparable(`${sequenceNumber}`),
  };
}

/** The places in a Kinesis record: that of the record in its shard, and in the record that of each user record in it. */
export function placesInShard(
  source: string,
  record: { shardId: string; sequenceNumber: string },
): (subSequenceNumber: number) => Place {
  const series = `shard/${source}/${record.shardId}`;
  const number = comparable(record.sequenceNumber);
  return (subSequenceNumber) => ({ series, number: withSubNumber(number, subSequenceNumber) });
}

/**
 * The place of a user record in a Kinesis record that was parked whole, among the records of the key that was parked. A sequence
 * counts by the key of the user record, so the series names that key, too, if it is another one.
 *
 * @param whole the place of the Kinesis record in its shard
 */
export function placeInParkedKey(parkedKey: string, whole: Place, userRecord: UserRecord): Place {
  const { partitionKey, explicitHashKey, subSequenceNumber, sequence } = userRecord;
  if (sequence === undefined) return { series: whole.series, number: withSubNumber(whole.number, subSequenceNumber) };
  const place = placeOfSequence(sourceOf(whole), sequence, explicitHashKey);
  if (partitionKey === parkedKey) return place;
  // The length tells where the key ends, which may have any character.
  return { series: `parked/${partitionKey.length}/${partitionKey}/${place.series}`, number: place.number };
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
