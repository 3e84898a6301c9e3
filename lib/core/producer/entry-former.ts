import { hasMagic, MAX_AGGREGATE_OVERHEAD_BYTES } from '../stream-format/aggregate-format';
import type { RecordSequence } from '../stream-format/record-sequence';
import { type AggregatableRecord, AggregateBuilder, type BuiltRecord } from './aggregate-builder';
import type { Lane } from './lane';
import type { LaneEntry } from './lane-entry';
import type { PendingRecord } from './pending-record';
import { RecordTooLargeError } from './producer-errors';
import type { ProducerRecord } from './producer-record';
import type { PutRecordsRequestEntry } from './put-records-client';
import type { AggregationGroup, RecordHashKeys } from './record-hash-keys';

/** The content of a Kinesis record: one user record, several user records of one key, or user records of several keys. */
export type Aggregation = 'none' | 'per-key' | 'packed';

interface EntryOptions {
  aggregation: Aggregation;
  /** The maximum size of an aggregate of several records, in bytes. */
  maxAggregateBytes: number;
  /** The id of the producer in the sequence of its records. Undefined if the producer does not number its records. */
  producerId: string | undefined;
}

/** A producer counts from 0, so its sequence numbers always have fewer digits than this number. */
const MAX_OWN_SEQUENCE_NUMBER = 10n ** 20n;

/** Forms the entry that a lane sends next. With the option `sequence` it also numbers the records. */
export class EntryFormer {
  private nextSequenceNumber = 0n;

  constructor(
    private readonly options: EntryOptions,
    private readonly hashKeys: RecordHashKeys,
  ) {}

  /**
   * Checks the size of a record together with the bytes that an aggregate adds, if the record may be in an aggregate.
   *
   * @throws RecordTooLargeError if the stream would not accept the record
   */
  checkSize(record: ProducerRecord, bytes: number, maxRecordBytes: number): void {
    if (!this.mayBeAggregated(record)) return;
    if (bytes <= maxRecordBytes - MAX_AGGREGATE_OVERHEAD_BYTES) return;
    const isPacked = this.options.aggregation === 'packed';
    const builder = new AggregateBuilder({
      maxBytes: maxRecordBytes,
      groupName: isPacked ? this.hashKeys.aggregationGroupOf(record).name : undefined,
    });
    const sequence = record.sequence ?? this.sequence(MAX_OWN_SEQUENCE_NUMBER);
    const explicitHashKey = this.hashKeys.explicitHashKeyOf(record);
    if (builder.tryAdd({ ...record, explicitHashKey, sequence })) return;
    const allowed = `at most ${maxRecordBytes} bytes, including the partition key and the frame of an aggregate`;
    throw new RecordTooLargeError('data', bytes, allowed);
  }

  /**
   * How many bytes a shard must still accept before the lane may send. With `aggregation: 'packed'`, this is the maximum size of
   * an aggregate with only the first record of the lane, or only the entry that the lane sends again. Otherwise, it is the
   * maximum size of the lane's next entry.
   */
  leastBytes({ entry, head, bytes, length }: Lane): number {
    const { aggregation, maxAggregateBytes } = this.options;
    if (aggregation === 'packed') return (entry?.bytes ?? head.bytes) + MAX_AGGREGATE_OVERHEAD_BYTES;
    if (entry !== undefined) return entry.bytes;
    const maxAlone = this.maxBytesAlone(head);
    if (aggregation === 'none') return maxAlone;
    return Math.min(bytes + length * MAX_AGGREGATE_OVERHEAD_BYTES, Math.max(maxAlone, maxAggregateBytes));
  }

  /** The maximum size of a record that is sent alone, in bytes. */
  maxBytesAlone({ record, bytes }: PendingRecord): number {
    return this.mayBeAggregated(record) ? bytes + MAX_AGGREGATE_OVERHEAD_BYTES : bytes;
  }

  /** Forms the next entry of a lane, as a separate Kinesis record. */
  form(lane: Lane): LaneEntry {
    const { record, bytes } = lane.head;
    const maxRecords = this.options.aggregation === 'none' ? 1 : lane.length;
    if (maxRecords > 1 || this.needsAggregate(record)) return this.aggregate(lane, maxRecords);
    const { partitionKey, data } = record;
    const explicitHashKey = this.hashKeys.explicitHashKeyOf(record);
    const kinesisRecord = kinesisRecordOf({ partitionKey, data, explicitHashKey });
    return { kinesisRecord, bytes, records: 1, attempts: 0 };
  }

  /** Starts an aggregate of several keys. */
  startAggregate({ name }: AggregationGroup, maxBytes: number): AggregateBuilder {
    return new AggregateBuilder({ maxBytes, groupName: name });
  }

  /**
   * Adds the entry of a lane to an aggregate or, if the lane has no entry yet, as many of its first records as fit. Returns
   * undefined if nothing fits.
   */
  addTo(
    aggregate: AggregateBuilder,
    group: AggregationGroup,
    lane: Lane,
    maxRecords = lane.length,
  ): LaneEntry | undefined {
    const { recordCount: position, byteLength } = aggregate;
    const { entry } = lane;
    // If the first record has an explicit hash key, only records with the same explicit hash key may follow it.
    const hashKeyOfKey = lane.head.record.explicitHashKey === undefined ? group.hashKey : undefined;
    if (entry !== undefined) {
      if (!aggregate.tryAddAll(this.recordsOf(entry, lane, hashKeyOfKey))) return undefined;
      entry.position = position;
      return entry;
    }
    const firstSequenceNumber = this.nextSequenceNumber;
    const records = this.fill(aggregate, lane, hashKeyOfKey, maxRecords);
    if (records === 0) return undefined;
    return { firstSequenceNumber, bytes: aggregate.byteLength - byteLength, records, position, attempts: 0 };
  }

  private aggregate(lane: Lane, maxRecords: number): LaneEntry {
    const hashKeyOfKey = this.hashKeys.explicitHashKeyOf({ partitionKey: lane.partitionKey });
    let builder = new AggregateBuilder({ maxBytes: this.options.maxAggregateBytes });
    let records = this.fill(builder, lane, hashKeyOfKey, maxRecords);
    if (records === 0) {
      // A record that is larger than `maxAggregateBytes` is sent alone.
      builder = new AggregateBuilder({ maxBytes: lane.head.bytes + MAX_AGGREGATE_OVERHEAD_BYTES });
      records = this.fill(builder, lane, hashKeyOfKey, 1);
    }
    const built = builder.build();
    const isAggregate = built.data !== lane.head.record.data;
    const position = isAggregate ? 0 : undefined;
    return { kinesisRecord: kinesisRecordOf(built), bytes: builder.byteLength, records, position, attempts: 0 };
  }

  /**
   * Adds the lane's first records to an aggregate, until a record cannot be added.
   *
   * @param hashKeyOfKey the hash key of records without an explicit hash key
   * @returns how many records it added
   */
  private fill(builder: AggregateBuilder, lane: Lane, hashKeyOfKey: bigint | undefined, maxRecords: number): number {
    let added = 0;
    for (let next: PendingRecord | undefined = lane.head; next !== undefined && added < maxRecords; next = next.next) {
      if (!builder.tryAdd(this.sequenced(next.record, hashKeyOfKey, this.nextSequenceNumber))) break;
      this.nextSequenceNumber += 1n;
      added += 1;
    }
    return added;
  }

  /** The records of an entry. They are the same in every aggregate that contains the entry. */
  private recordsOf(entry: LaneEntry, lane: Lane, hashKeyOfKey: bigint | undefined): AggregatableRecord[] {
    let next = lane.head;
    return Array.from({ length: entry.records }, (_, index) => {
      const { record } = next;
      next = next.next!;
      return this.sequenced(record, hashKeyOfKey, entry.firstSequenceNumber! + BigInt(index));
    });
  }

  private sequenced(
    { partitionKey, data, explicitHashKey, sequence }: ProducerRecord,
    hashKeyOfKey: bigint | undefined,
    sequenceNumber: bigint,
  ): AggregatableRecord {
    return {
      partitionKey,
      data,
      explicitHashKey: explicitHashKey ?? hashKeyOfKey,
      sequence: sequence ?? this.sequence(sequenceNumber),
    };
  }

  private mayBeAggregated(record: ProducerRecord): boolean {
    return this.options.aggregation !== 'none' || this.needsAggregate(record);
  }

  /** Whether a record needs an aggregate even if it is sent alone. */
  private needsAggregate({ data, sequence }: ProducerRecord): boolean {
    const { aggregation, producerId } = this.options;
    return sequence !== undefined || producerId !== undefined || (aggregation !== 'none' && hasMagic(data));
  }

  private sequence(sequenceNumber: bigint): RecordSequence | undefined {
    const { producerId } = this.options;
    return producerId === undefined ? undefined : { producerId, sequenceNumber };
  }
}

/** Converts a built record to an entry of a PutRecords request. */
export function kinesisRecordOf({ partitionKey, data, explicitHashKey }: BuiltRecord): PutRecordsRequestEntry {
  return explicitHashKey === undefined
    ? { Data: data, PartitionKey: partitionKey }
    : { Data: data, PartitionKey: partitionKey, ExplicitHashKey: explicitHashKey.toString() };
}
