import type { RecordSequence } from '../foundation/record-sequence';
import { AggregateBuilder } from './aggregate-builder';
import type { Fifo } from './fifo';
import type { Lane, PendingRecord, Unit } from './lane';
import { RecordTooLargeError } from './producer-errors';
import { type ProducerRecord, recordBytes } from './producer-record';

/** How records become what is sent. */
export interface UnitOptions {
  aggregation: boolean;
  /** The largest aggregate of several records, in bytes. */
  maxAggregateBytes: number;
  /** Who numbers the records; undefined if nobody does. */
  producerId: string | undefined;
}

/** More than an aggregate adds to a record: its frame, its tables and the longest sequence. */
const MOST_AGGREGATE_OVERHEAD = 4 * 1024;

/** Longer than a producer that numbers its records from 0 can count. */
const LARGEST_SEQUENCE_NUMBER = 10n ** 20n;

/** Forms what a lane sends next, and numbers its records if they are to be numbered. */
export class UnitFormer {
  private nextSequenceNumber = 0n;

  constructor(private readonly options: UnitOptions) {}

  /**
   * Throws unless the record fits into the stream with what an aggregate adds to it, if it must or may be in one.
   *
   * @throws RecordTooLargeError
   */
  checkSize(record: ProducerRecord, maxRecordBytes: number): void {
    const { aggregation } = this.options;
    const isSurelySmall = recordBytes(record) <= maxRecordBytes - MOST_AGGREGATE_OVERHEAD;
    if (isSurelySmall || (!aggregation && !this.isNumbered(record))) return;
    const builder = new AggregateBuilder({ maxBytes: maxRecordBytes });
    if (builder.tryAdd({ ...record, sequence: record.sequence ?? this.sequence(LARGEST_SEQUENCE_NUMBER) })) return;
    const allowed = `at most ${maxRecordBytes} bytes together with the partition key and what an aggregate adds`;
    throw new RecordTooLargeError('data', recordBytes(record), allowed);
  }

  /** The most bytes that the lane's next unit can count: what the request and the shard must have room for. */
  mostBytes({ unit, head, bytes, pending }: Lane): number {
    if (unit !== undefined) return unit.bytes;
    const mostAlone = this.mostBytesAlone(head);
    if (!this.options.aggregation) return mostAlone;
    return Math.min(
      bytes + pending.length * MOST_AGGREGATE_OVERHEAD,
      Math.max(mostAlone, this.options.maxAggregateBytes),
    );
  }

  /** The most bytes that a record can count which goes alone. */
  mostBytesAlone({ record, bytes }: PendingRecord): number {
    return this.options.aggregation || this.isNumbered(record) ? bytes + MOST_AGGREGATE_OVERHEAD : bytes;
  }

  form(lane: Lane): Unit {
    const { aggregation } = this.options;
    if (!aggregation && !this.isNumbered(lane.head.record)) return rawUnit(lane);
    return this.aggregate(lane, aggregation ? lane.pending.length : 1);
  }

  private aggregate({ head, pending }: Lane, most: number): Unit {
    let builder = this.fill(pending, most, this.options.maxAggregateBytes);
    // A record that is too large for company goes alone.
    if (builder.recordCount === 0) builder = this.fill(pending, 1, head.bytes + MOST_AGGREGATE_OVERHEAD);
    const built = builder.build();
    return {
      entry: entryOf(built),
      bytes: builder.byteLength,
      records: builder.recordCount,
      isAggregate: built.data !== head.record.data,
      attempts: 0,
    };
  }

  private fill(pending: Fifo<PendingRecord>, most: number, maxBytes: number): AggregateBuilder {
    const builder = new AggregateBuilder({ maxBytes });
    while (builder.recordCount < most) {
      const { record } = pending.at(builder.recordCount)!;
      const { partitionKey, data, explicitHashKey } = record;
      const sequence = record.sequence ?? this.sequence(this.nextSequenceNumber);
      if (!builder.tryAdd({ partitionKey, data, explicitHashKey, sequence })) break;
      this.nextSequenceNumber += 1n;
    }
    return builder;
  }

  private isNumbered({ sequence }: ProducerRecord): boolean {
    return sequence !== undefined || this.options.producerId !== undefined;
  }

  private sequence(sequenceNumber: bigint): RecordSequence | undefined {
    const { producerId } = this.options;
    return producerId === undefined ? undefined : { producerId, sequenceNumber };
  }
}

function rawUnit({ head }: Lane): Unit {
  return { entry: entryOf(head.record), bytes: head.bytes, records: 1, isAggregate: false, attempts: 0 };
}

function entryOf({ partitionKey, data, explicitHashKey }: ProducerRecord): Unit['entry'] {
  return explicitHashKey === undefined
    ? { Data: data, PartitionKey: partitionKey }
    : { Data: data, PartitionKey: partitionKey, ExplicitHashKey: explicitHashKey.toString() };
}
