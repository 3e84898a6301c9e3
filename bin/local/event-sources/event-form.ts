import {
  type KinesisEventFields,
  kinesisEventRecord,
  kinesisEventRecordBytes,
} from '../../../lib/core/contract/kinesis-event';
import { parsedJson } from '../../../lib/core/kernel/parsed-json';
import type { KinesisRecord } from '../../stream-shards/shard-reader';
import { LOCAL_REGION } from '../assembly/emulated-types';
import type { LocalEventSource } from '../assembly/event-sources';

/** How the records of a source appear in an event. */
export interface EventForm {
  /** The record in the event. */
  record(record: KinesisRecord, shardId: string): object;
  /** The bytes of the record in the event. */
  bytes(record: KinesisRecord, shardId: string): number;
  /** The object that the filters of the mapping match. */
  filtered(record: KinesisRecord): object;
  /** The wait before the next read of a shard that was read to its tip, in milliseconds. */
  readonly atTipMs: number;
}

export function eventFormOf({ reads, streamArn }: LocalEventSource): EventForm {
  return reads === 'table' ? TABLE_FORM : kinesisForm(streamArn);
}

/**
 * The data of a record is its record in the event. Lambda reads a shard of a table's stream four times a second. Source:
 * the AWS Lambda developer guide, "Using AWS Lambda with Amazon DynamoDB".
 */
const TABLE_FORM: EventForm = {
  record: ({ Data }) => JSON.parse(Buffer.from(Data!).toString()),
  bytes: ({ Data }) => Data!.byteLength,
  filtered: ({ Data }) => JSON.parse(Buffer.from(Data!).toString()),
  atTipMs: 250,
};

/**
 * Lambda reads a shard of a Kinesis stream once a second. Source: the AWS Lambda developer guide, "How Lambda processes
 * records from Amazon Kinesis Data Streams".
 */
function kinesisForm(streamArn: string): EventForm {
  const fields = (
    { PartitionKey, SequenceNumber, Data, ApproximateArrivalTimestamp }: KinesisRecord,
    shardId: string,
  ): KinesisEventFields => ({
    shardId,
    sequenceNumber: SequenceNumber!,
    partitionKey: PartitionKey!,
    data: Data!,
    arrivedAtMs: ApproximateArrivalTimestamp?.getTime() ?? 0,
    streamArn,
    roleArn: 'arn:aws:iam::000000000000:role/local',
    region: LOCAL_REGION,
  });
  return {
    record: (record, shardId) => kinesisEventRecord(fields(record, shardId)),
    bytes: (record, shardId) => kinesisEventRecordBytes(fields(record, shardId)),
    // A filter on `data` can match a record only if the data is JSON.
    filtered: ({ PartitionKey, Data }) => {
      const data = parsedJson(Buffer.from(Data!).toString());
      return { partitionKey: PartitionKey, ...(data !== undefined && { data }) };
    },
    atTipMs: 1_000,
  };
}
