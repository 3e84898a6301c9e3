import { createHash } from 'node:crypto';
import type { RecordSequence } from '../stream-format/record-sequence';
import type { UserRecord } from './deaggregate';

/**
 * The position of a record in a series. A series contains the records of a key from one producer, or from one shard. A later
 * record of the series has a higher number.
 */
export interface SequencePosition {
  /** The name of the series. */
  series: string;
  /**
   * The number as text. The texts have the order of the numbers: compare them with `<`, or in a column with the collation "C".
   */
  number: string;
}

/**
 * Returns the position that a handler gets. Its series is a hash of the key and of the given series, in 43 characters. So a
 * series belongs to one key, and a store accepts the series even if the store rejects long partition keys or some of their
 * characters.
 *
 * @param key the key under which the consumer handles the record
 */
export function positionForHandler(key: string, { series, number }: SequencePosition): SequencePosition {
  const ofKey = JSON.stringify([key, series]);
  return { series: createHash('sha256').update(ofKey).digest('base64url'), number };
}

/** The characters have 132 bits. Among a million sources, the probability that two sources have the same name is below 10^-27. */
const SOURCE_NAME_CHARACTERS = 22;
/** Matches the part of the ARN of an enhanced fan-out consumer that comes after the ARN of the stream. */
const FAN_OUT_CONSUMER = /(?<=^arn:[^:]*:kinesis:[^:]*:[^:]*:stream\/[^/]+)\/consumer\/.*$/;

/**
 * Returns the name of a source, as a part of the names of series. A stream has the same name with and without enhanced fan-out.
 * The name is a hash, because ARNs are long and the names of series are stored many times.
 */
export function sourceName(source: string): string {
  const stream = source.replace(FAN_OUT_CONSUMER, '');
  return createHash('sha256').update(stream).digest('base64url').slice(0, SOURCE_NAME_CHARACTERS);
}

export function sourceOf({ series }: SequencePosition): string {
  return series.split('/')[1]!;
}

/**
 * The position of a record in the sequence of its producer. Its series includes the source, because an outbox can write rows of
 * one producer id to several streams. Numbers of different streams must not be compared.
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

/**
 * Returns the positions of the user records of a Kinesis record. The positions have the order of the Kinesis records in the
 * shard, and then the order of the user records in the Kinesis record.
 */
export function positionsInShard(
  source: string,
  record: { shardId: string; sequenceNumber: string },
): (subSequenceNumber: number) => SequencePosition {
  const series = `shard/${source}/${record.shardId}`;
  const number = comparable(record.sequenceNumber);
  return (subSequenceNumber) => ({ series, number: withSubNumber(number, subSequenceNumber) });
}

/**
 * The position of a user record under a parked key, if its Kinesis record was parked as a whole. A sequence belongs to the
 * partition key of the user record. So the series includes this key if it is not the parked key.
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
  // The length shows where the key ends, because a key may contain any character.
  return { series: `parked/${partitionKey.length}/${partitionKey}/${position.series}`, number: position.number };
}

function withSubNumber(number: string, subSequenceNumber: number): string {
  return `${number.split('.', 1)[0]}.${String(subSequenceNumber).padStart(SUB_NUMBER_DIGITS, '0')}`;
}

const SUB_NUMBER_DIGITS = 10;

/** Puts the number of digits before the digits, so that the texts have the order of the numbers. */
function comparable(digits: string): string {
  return `${String(digits.length).padStart(3, '0')}:${digits}`;
}
