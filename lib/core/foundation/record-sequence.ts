/**
 * Where a record stands among the records of its partition key, as its producer counts them.
 *
 * It tells a record from a second copy of it, and nothing else does: Kinesis gives each copy a sequence number of its
 * own.
 */
export interface RecordSequence {
  /** Whoever counts, 1 to 256 characters: a new one whenever the count starts again. */
  producerId: string;
  /**
   * From 0 to 10^40 - 1, higher with every record of a partition key. It may skip numbers, so that one count can serve
   * any number of keys.
   */
  sequenceNumber: bigint;
}

/** No sequence number is as high. Those of DynamoDB Streams have up to 40 digits. */
export const MAX_SEQUENCE_NUMBER = 10n ** 40n;

/** The key of the tag that carries a sequence in an aggregate. Other readers of the format pass over tags. */
export const SEQUENCE_TAG = Buffer.from('even-shards');

const SEQUENCE_TEXT = /^(0|[1-9]\d{0,39})\/(.{1,256})$/su;

/** The value of the tag. */
export function sequenceText({ producerId, sequenceNumber }: RecordSequence): string {
  return `${sequenceNumber}/${producerId}`;
}

/** The sequence that a tag's value holds, or undefined if it holds none. */
export function parseSequenceText(text: string): RecordSequence | undefined {
  const match = SEQUENCE_TEXT.exec(text);
  return match === null ? undefined : { producerId: match[2]!, sequenceNumber: BigInt(match[1]!) };
}

/** The sequence of the record behind one of an aggregate that says nothing of its own. */
export function nextSequence({ producerId, sequenceNumber }: RecordSequence): RecordSequence {
  return { producerId, sequenceNumber: sequenceNumber + 1n };
}
