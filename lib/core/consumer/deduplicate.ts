import type { SequencedRecord, SequenceHistory } from './sequence-history';

/**
 * The records without second copies: each counted record once, in the order of its partition key. Records that are not
 * counted pass.
 *
 * A record is remembered as taken when the next is asked for, so not if the loop ends with it, be it by an error: it
 * comes again when the records are read again.
 *
 *     for (const record of deduplicate(deaggregate(streamRecord), history)) await handle(record);
 */
export function* deduplicate<R extends SequencedRecord>(records: Iterable<R>, history: SequenceHistory): Generator<R> {
  for (const record of records) {
    if (history.has(record)) continue;
    yield record;
    history.add(record);
  }
}
