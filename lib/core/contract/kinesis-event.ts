/** The fields of a Kinesis record in the event of a function. */
export interface KinesisEventFields {
  readonly shardId: string;
  readonly sequenceNumber: string;
  readonly partitionKey: string;
  readonly data: Uint8Array;
  readonly arrivedAtMs: number;
  readonly streamArn: string;
  readonly roleArn: string;
  readonly region: string;
}

/**
 * A Kinesis record as Lambda writes it into the event of a function.
 *
 * Source: the AWS Lambda developer guide, "Using Lambda to process records from Amazon Kinesis Data Streams".
 */
export function kinesisEventRecord(fields: KinesisEventFields): object {
  const { shardId, sequenceNumber, partitionKey, data } = fields;
  return {
    kinesis: {
      kinesisSchemaVersion: '1.0',
      partitionKey,
      sequenceNumber,
      data: Buffer.from(data).toString('base64'),
      approximateArrivalTimestamp: fields.arrivedAtMs / 1_000,
    },
    eventSource: 'aws:kinesis',
    eventVersion: '1.0',
    eventID: `${shardId}:${sequenceNumber}`,
    eventName: 'aws:kinesis:record',
    invokeIdentityArn: fields.roleArn,
    awsRegion: fields.region,
    eventSourceARN: fields.streamArn,
  };
}

const NO_DATA = new Uint8Array();

/** The size of a Kinesis record in an event, in bytes. */
export function kinesisEventRecordBytes(fields: KinesisEventFields): number {
  const withoutData = JSON.stringify(kinesisEventRecord({ ...fields, data: NO_DATA }));
  return Buffer.byteLength(withoutData) + 4 * Math.ceil(fields.data.byteLength / 3);
}

/**
 * The maximum size of an event: 6 MiB.
 *
 * Sources: the AWS Lambda developer guide, "Lambda quotas" (invocation payload, synchronous); the Kinesis developer guide,
 * "Handle large records". The two guides state 6 MB and 6 MiB. An error of the Invoke operation states 6,291,456 bytes.
 */
export const MAX_EVENT_BYTES = 6 * 1024 * 1024;

/** The size of an event without records, `{"Records":[]}`, in bytes. */
export const EMPTY_EVENT_BYTES = 14;

/**
 * A partition key has at most 256 characters. A character takes up to 4 bytes in UTF-8, and up to 12 bytes if JSON escapes it.
 * Source: the Kinesis API reference, PutRecord.
 */
const LONGEST_KEY = 256;
const KEY_BYTES = 4 * LONGEST_KEY;
const KEY_JSON_BYTES = 12 * LONGEST_KEY;

/**
 * The longest possible values of the other fields of a Kinesis record in an event. Sources: the Kinesis API reference (shard
 * id, sequence number), the IAM API reference (an ARN has at most 2,048 characters). No region has a name of more than 32
 * characters.
 */
const LONGEST_FIELDS: KinesisEventFields = {
  shardId: 's'.repeat(128),
  sequenceNumber: '9'.repeat(129),
  partitionKey: '',
  data: NO_DATA,
  arrivedAtMs: 1_234_567_890_123,
  streamArn: 'a'.repeat(2_048),
  roleArn: 'a'.repeat(2_048),
  region: 'r'.repeat(32),
};

/**
 * The largest record size limit of a stream, in KiB, with which every record still fits into an event of a function.
 *
 * The record size limit applies to the data and the partition key together. An event contains the data in base64, which takes 4
 * bytes for 3 bytes of data. The computation uses the longest possible values of the other fields.
 */
export const LARGEST_RECORD_OF_EVENT_KIB = Math.floor((mostDataBytes() + KEY_BYTES) / 1024);

function mostDataBytes(): number {
  const otherBytes = EMPTY_EVENT_BYTES + kinesisEventRecordBytes(LONGEST_FIELDS) + KEY_JSON_BYTES;
  return 3 * Math.floor((MAX_EVENT_BYTES - otherBytes) / 4);
}
