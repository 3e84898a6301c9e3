import { parseFence } from '../../lib/core/stream-format/fence';
import type { RecordSequence } from '../../lib/core/stream-format/record-sequence';

/** What tells a record from its duplicates. */
interface SequencedRecord {
  partitionKey: string;
  explicitHashKey?: bigint;
  sequence?: RecordSequence;
  data?: unknown;
}

/**
 * The records without fences and duplicates, as a consumer handles them. A record is a duplicate if its producer has written a record
 * with a higher or the same number before, with the same partition key and hash key. Records without a sequence have no duplicates.
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
