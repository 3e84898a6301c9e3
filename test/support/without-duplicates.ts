import { parseFence } from '../../lib/core/stream-format/fence';
import type { RecordSequence } from '../../lib/core/stream-format/record-sequence';

/** The fields that distinguish a record from its duplicates. */
interface SequencedRecord {
  partitionKey: string;
  explicitHashKey?: bigint;
  sequence?: RecordSequence;
  data?: unknown;
}

/**
 * The records without fences and duplicates, as a consumer processes them. A record is a duplicate if its producer has
 * already written a record with the same partition key, the same hash key, and the same or a higher number. Records
 * without a sequence have no duplicates.
 */
export function withoutDuplicates<R extends SequencedRecord>(records: Iterable<R>): R[] {
  const highest = new Map<string, bigint>();
  return [...records].filter(({ partitionKey, explicitHashKey, sequence, data }) => {
    const isFence = data instanceof Uint8Array && parseFence(data) !== undefined;
    if (sequence === undefined) return !isFence;
    const series = JSON.stringify([partitionKey, `${explicitHashKey}`, sequence.producerId]);
    const isNew = sequence.sequenceNumber > (highest.get(series) ?? -1n);
    if (isNew) highest.set(series, sequence.sequenceNumber);
    return isNew && !isFence;
  });
}
