import { createHash } from 'node:crypto';
import type { RecordSequence } from '../foundation/record-sequence';

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
  return (subSequenceNumber) => ({ series, number: `${number}.${String(subSequenceNumber).padStart(10, '0')}` });
}

/** Puts the count of the digits before the digits, so that the texts compare as the numbers do. */
function comparable(digits: string): string {
  return `${String(digits.length).padStart(3, '0')}:${digits}`;
}
