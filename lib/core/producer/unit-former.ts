import type { RecordSequence } from '../foundation/record-sequence';
import { AggregateBuilder } from './aggregate-builder';
import type { Lane } from './lane';
import type { PendingRecord } from './pending-record';
import { RecordTooLargeError } from './producer-errors';
import { type ProducerRecord, recordBytes } from './producer-record';
import type { Unit } from './unit';

/** How records become what is sent. */
export interface UnitOptions {
  aggregation: boolean;
  /** The largest aggregate of several records, in bytes. */
  maxAggregateBytes: number;
  /** The producer in the sequence that each record is given; undefined if the records are given none. */
  producerId: string | undefined;
}

/** More than an aggregate adds to a record: its frame, its tables and the longest sequence, in bytes. */
const MAX_AGGREGATE_OVERHEAD_BYTES = 4 * 1024;

/** A number with more digits than any that a producer, counting from 0, comes to give. */
const MAX_OWN_SEQUENCE_NUMBER = 10n ** 20n;

/** Forms the unit that a lane sends next, and gives its records their place in a sequence if they are to have one. */
export class UnitFormer {
  private nextSequenceNumber = 0n;

  constructor(private readonly options: UnitOptions) {}

  /**
   * Throws unless the record fits into the stream with what an aggregate adds to it, if it must or may be in one.
   *
   * @throws RecordTooLargeError
   */
  checkSize(record: ProducerRecord, maxRecordBytes: number): void {
    if (!this.options.aggregation && !this.isSequenced(record)) return;
    if (recordBytes(record) <= maxRecordBytes - MAX_AGGREGATE_OVERHEAD_BYTES) return;
    const builder = new AggregateBuilder({ maxBytes: maxRecordBytes });
    if (builder.tryAdd({ ...record, sequence: record.sequence ?? this.sequence(MAX_OWN_SEQUENCE_NUMBER) })) return;
    const allowed = `at most ${maxRecordBytes} bytes together with the partition key and what an aggregate adds`;
    throw new RecordTooLargeError('data', recordBytes(record), allowed);
  }

  /** The most bytes that the lane's next unit can count: the request and the shard must have room for as many. */
  maxBytes({ unit, head, bytes, length }: Lane): number {
    if (unit !== undefined) return unit.bytes;
    const maxAlone = this.maxBytesAlone(head);
    if (!this.options.aggregation) return maxAlone;
    return Math.min(bytes + length * MAX_AGGREGATE_OVERHEAD_BYTES, Math.max(maxAlone, this.options.maxAggregateBytes));
  }

  /** The most bytes that a record can count if it goes alone. */
  maxBytesAlone({ record, bytes }: PendingRecord): number {
    return this.options.aggregation || this.isSequenced(record) ? bytes + MAX_AGGREGATE_OVERHEAD_BYTES : bytes;
  }

  form(lane: Lane): Unit {
    const { aggregation } = this.options;
    if (!aggregation && !this.isSequenced(lane.head.record)) return rawUnit(lane);
    return this.aggregate(lane, aggregation ? lane.length : 1);
  }

  private aggregate(lane: Lane, maxRecords: number): Unit {
    let builder = this.fill(lane, maxRecords, this.options.maxAggregateBytes);
    // A record that is too large for company goes alone.
    if (builder.recordCount === 0) builder = this.fill(lane, 1, lane.head.bytes + MAX_AGGREGATE_OVERHEAD_BYTES);
    const built = builder.build();
    return {
      entry: entryOf(built),
      bytes: builder.byteLength,
      records: builder.recordCount,
      isAggregate: built.data !== lane.head.record.data,
      attempts: 0,
    };
  }

  private fill(lane: Lane, maxRecords: number, maxBytes: number): AggregateBuilder {
    const builder = new AggregateBuilder({ maxBytes });
    while (builder.recordCount < maxRecords) {
      const { record } = lane.at(builder.recordCount)!;
      const { partitionKey, data, explicitHashKey } = record;
      const sequence = record.sequence ?? this.sequence(this.nextSequenceNumber);
      if (!builder.tryAdd({ partitionKey, data, explicitHashKey, sequence })) break;
      this.nextSequenceNumber += 1n;
    }
    return builder;
  }

  private isSequenced({ sequence }: ProducerRecord): boolean {
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
