import type { RecordSequence } from '../foundation/record-sequence';

/**
 * Where a record stands among the records of its key that have one source: one producer with one hash key, or one shard. The
 * numbers of a series grow along its shard.
 */
export interface Place {
  /** Names the source. */
  series: string;
  /** A text that compares as the numbers do. */
  number: string;
}

/** The place that a producer gave its record. */
export function placeOfSequence({ producerId, sequenceNumber }: RecordSequence, explicitHashKey?: bigint): Place {
  return { series: `producer/${explicitHashKey ?? ''}/${producerId}`, number: comparable(`${sequenceNumber}`) };
}

/** The places in a Kinesis record: that of the record in its shard, and in the record that of each user record in it. */
export function placesInShard(record: {
  shardId: string;
  sequenceNumber: string;
}): (subSequenceNumber: number) => Place {
  const series = `shard/${record.shardId}`;
  const number = comparable(record.sequenceNumber);
  return (subSequenceNumber) => ({ series, number: `${number}.${String(subSequenceNumber).padStart(10, '0')}` });
}

/** Puts the count of the digits before the digits, so that the texts compare as the numbers do. */
function comparable(digits: string): string {
  return `${String(digits.length).padStart(3, '0')}:${digits}`;
}
