import { checkTextFormat } from '../kernel/format-version';

/**
 * The position of a record among the records of its partition key: the id of the producer, and a number that the producer gives
 * to the record.
 *
 * A consumer needs the sequence to recognise duplicates, because Kinesis gives each duplicate its own sequence number.
 */
export interface RecordSequence {
  /** Identifies the producer, in 1 to 256 characters. Use a new id whenever the numbers start again. */
  producerId: string;
  /**
   * An integer from 0 to 10^40 - 1 that grows with every record of a partition key. The numbers of a partition key may have gaps,
   * so all partition keys of a producer can share one counter.
   */
  sequenceNumber: bigint;
}

/** Every sequence number is smaller than this limit. The sequence numbers of DynamoDB Streams have up to 40 digits. */
export const MAX_SEQUENCE_NUMBER = 10n ** 40n;

/** The key of the tag that carries a sequence in an aggregate. Other readers of the format ignore tags. */
export const SEQUENCE_TAG = Buffer.from('even-shards');

const SEQUENCE_TEXT = /^(0|[1-9]\d{0,39})\/(.{1,256})$/su;

/** The value of the tag that carries this sequence. */
export function sequenceText({ producerId, sequenceNumber }: RecordSequence): string {
  return `${sequenceNumber}/${producerId}`;
}

/**
 * The sequence that the value of a tag holds. Undefined if the value does not hold a sequence.
 *
 * @throws NewerFormatError if a later release wrote the value in a format that this release cannot read
 */
export function parseSequenceText(text: string): RecordSequence | undefined {
  checkTextFormat('record sequence', text);
  const match = SEQUENCE_TEXT.exec(text);
  return match === null ? undefined : { producerId: match[2]!, sequenceNumber: BigInt(match[1]!) };
}

/** The sequence of the next record of an aggregate, if that record does not carry a sequence. */
export function nextSequence({ producerId, sequenceNumber }: RecordSequence): RecordSequence {
  return { producerId, sequenceNumber: sequenceNumber + 1n };
}
