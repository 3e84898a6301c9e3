import { hasMagic, MAX_AGGREGATE_OVERHEAD_BYTES } from '../stream-format/aggregate-format';
import type { RecordSequence } from '../stream-format/record-sequence';
import { type AggregatableRecord, AggregateBuilder, type BuiltRecord } from './aggregate-builder';
import type { Lane } from './lane';
import type { PendingRecord } from './pending-record';
import type { MeetingPoint, Placement } from './placement';
import { RecordTooLargeError } from './producer-errors';
import type { ProducerRecord } from './producer-record';
import type { PutRecordsRequestEntry } from './put-records-client';
import type { Unit } from './unit';

/** What a Kinesis record holds: one record, several of one key, or the records of several keys. */
export type Aggregation = 'none' | 'per-key' | 'packed';

/** How records become what is sent. */
interface UnitOptions {
  aggregation: Aggregation;
  /** The largest aggregate of several records, in bytes. */
  maxAggregateBytes: number;
  /** The producer in the sequence that each record is given; undefined if the records are given none. */
  producerId: string | undefined;
}

/** A number with more digits than any that a producer, counting from 0, comes to give. */
const MAX_OWN_SEQUENCE_NUMBER = 10n ** 20n;

/** Forms the unit that a lane sends next, and gives its records their place in a sequence if they are to have one. */
export class UnitFormer {
  private nextSequenceNumber = 0n;

  constructor(
    private readonly options: UnitOptions,
    private readonly placement: Placement,
  ) {}

  /**
   * @throws RecordTooLargeError
   * @throws an error unless the record fits into the stream with what an aggregate adds to it, if it must or may be in one
   */
  checkSize(record: ProducerRecord, bytes: number, maxRecordBytes: number): void {
    if (!this.isWrapped(record)) return;
    if (bytes <= maxRecordBytes - MAX_AGGREGATE_OVERHEAD_BYTES) return;
    const isPacked = this.options.aggregation === 'packed';
    const builder = new AggregateBuilder({
      maxBytes: maxRecordBytes,
      packUnder: isPacked ? this.placement.meetingPointOf(record).name : undefined,
    });
    const sequence = record.sequence ?? this.sequence(MAX_OWN_SEQUENCE_NUMBER);
    const explicitHashKey = this.placement.explicitHashKeyOf(record);
    if (builder.tryAdd({ ...record, explicitHashKey, sequence })) return;
    const allowed = `at most ${maxRecordBytes} bytes together with the partition key and what an aggregate adds`;
    throw new RecordTooLargeError('data', bytes, allowed);
  }

  /** The most bytes that the lane's next unit can count: the request and the shard must have room for as many. */
  maxBytes({ unit, head, bytes, length }: Lane): number {
    if (unit !== undefined) return unit.bytes;
    const maxAlone = this.maxBytesAlone(head);
    if (this.options.aggregation === 'none') return maxAlone;
    return Math.min(bytes + length * MAX_AGGREGATE_OVERHEAD_BYTES, Math.max(maxAlone, this.options.maxAggregateBytes));
  }

  /** The most bytes that a record can count if it goes alone. */
  maxBytesAlone({ record, bytes }: PendingRecord): number {
    return this.isWrapped(record) ? bytes + MAX_AGGREGATE_OVERHEAD_BYTES : bytes;
  }

  /** The most bytes that a pack can count of the lane's unit alone, or of its first record if there is no unit. */
  maxBytesOfFirst({ unit, head }: Lane): number {
    return (unit?.bytes ?? head.bytes) + MAX_AGGREGATE_OVERHEAD_BYTES;
  }

  /** The Kinesis record that the lane sends next. */
  form(lane: Lane): Unit {
    const { record, bytes } = lane.head;
    const maxRecords = this.options.aggregation === 'none' ? 1 : lane.length;
    if (maxRecords > 1 || this.needsAggregate(record)) return this.aggregate(lane, maxRecords);
    const { partitionKey, data } = record;
    const entry = entryOf({ partitionKey, data, explicitHashKey: this.placement.explicitHashKeyOf(record) });
    return { entry, bytes, records: 1, attempts: 0 };
  }

  startPack({ name }: MeetingPoint, maxBytes: number): AggregateBuilder {
    return new AggregateBuilder({ maxBytes, packUnder: name });
  }

  /** Adds the lane's unit, or as many of its first records as fit, to a pack; undefined if nothing fits. */
  addTo(pack: AggregateBuilder, point: MeetingPoint, lane: Lane, maxRecords = lane.length): Unit | undefined {
    const { recordCount: position, byteLength } = pack;
    const { unit } = lane;
    // A lane that is here for the explicit hash key of its first record goes as far as that key does.
    const hashKeyOfKey = lane.head.record.explicitHashKey === undefined ? point.hashKey : undefined;
    if (unit !== undefined) {
      if (!pack.tryAddAll(this.recordsOf(unit, lane, hashKeyOfKey))) return undefined;
      unit.position = position;
      return unit;
    }
    const firstSequenceNumber = this.nextSequenceNumber;
    const records = this.fill(pack, lane, hashKeyOfKey, maxRecords);
    if (records === 0) return undefined;
    return { firstSequenceNumber, bytes: pack.byteLength - byteLength, records, position, attempts: 0 };
  }

  private aggregate(lane: Lane, maxRecords: number): Unit {
    const hashKeyOfKey = this.placement.explicitHashKeyOf({ partitionKey: lane.partitionKey });
    let builder = new AggregateBuilder({ maxBytes: this.options.maxAggregateBytes });
    let records = this.fill(builder, lane, hashKeyOfKey, maxRecords);
    if (records === 0) {
      // A record that is too large for company goes alone.
      builder = new AggregateBuilder({ maxBytes: lane.head.bytes + MAX_AGGREGATE_OVERHEAD_BYTES });
      records = this.fill(builder, lane, hashKeyOfKey, 1);
    }
    const built = builder.build();
    const isAggregate = built.data !== lane.head.record.data;
    const position = isAggregate ? 0 : undefined;
    return { entry: entryOf(built), bytes: builder.byteLength, records, position, attempts: 0 };
  }

  /**
   * Adds the lane's first records, as far as they go to one place: a record without an explicit hash key goes where its
   * key does. Returns how many were added.
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

  /** The records of a unit, as every pack that carries it has them. */
  private recordsOf(unit: Unit, lane: Lane, hashKeyOfKey: bigint | undefined): AggregatableRecord[] {
    let next = lane.head;
    return Array.from({ length: unit.records }, (_, index) => {
      const { record } = next;
      next = next.next!;
      return this.sequenced(record, hashKeyOfKey, unit.firstSequenceNumber! + BigInt(index));
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

  /** Whether a record is always in an aggregate, or may be. */
  private isWrapped(record: ProducerRecord): boolean {
    return this.options.aggregation !== 'none' || this.needsAggregate(record);
  }

  /** Whether a record is in an aggregate even if it is alone. */
  private needsAggregate({ data, sequence }: ProducerRecord): boolean {
    const { aggregation, producerId } = this.options;
    return sequence !== undefined || producerId !== undefined || (aggregation !== 'none' && hasMagic(data));
  }

  private sequence(sequenceNumber: bigint): RecordSequence | undefined {
    const { producerId } = this.options;
    return producerId === undefined ? undefined : { producerId, sequenceNumber };
  }
}

export function entryOf({ partitionKey, data, explicitHashKey }: BuiltRecord): PutRecordsRequestEntry {
  return explicitHashKey === undefined
    ? { Data: data, PartitionKey: partitionKey }
    : { Data: data, PartitionKey: partitionKey, ExplicitHashKey: explicitHashKey.toString() };
}
