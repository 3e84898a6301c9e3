import { parseFence } from '../stream-format/fence';
import type { SequencedRecord, SequenceHistory } from './sequence-history';

/**
 * Returns the records without copies: each sequenced record comes once, in the order of its partition key. A record that is
 * not sequenced always passes. Use it in a consumer that must handle each record once.
 *
 *     for (const record of deduplicate(deaggregate(streamRecord), history)) await handle(record);
 *
 * The history remembers a record as taken when the loop asks for the next one. If the loop ends with a record, for example
 * because of an error, the history does not remember that record, and it comes again when you read the records again.
 *
 * It leaves out the fences of `handOver`, and each record that its producer wrote before a fence and that arrives after it.
 * The network held such a record back, its producer has rejected it, and the key has moved on.
 *
 * @param records the records of a shard, in their order; with a `FenceGate`, those of a run
 * @param history remembers the records that were taken; it can serve all shards of a consumer
 */
export function* deduplicate<R extends SequencedRecord>(records: Iterable<R>, history: SequenceHistory): Generator<R> {
  for (const record of records) {
    if (isFence(record)) history.goPast(record);
    else if (!history.has(record)) {
      yield record;
      history.add(record);
    }
  }
}

function isFence({ data }: SequencedRecord): boolean {
  return data instanceof Uint8Array && parseFence(data) !== undefined;
}
