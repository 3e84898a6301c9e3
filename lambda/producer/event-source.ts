import { createHash } from 'node:crypto';
import type { DynamoDBRecord, SQSRecord } from 'aws-lambda';
import { MAX_PARTITION_KEY_LENGTH, type ProducerRecord } from '../../lib/core/producer/producer-record';
import { InvalidEventError } from '../invalid-event-error';
import { parseRecordInput } from './record-input';

/** One message of a batch that Lambda delivers from a queue or a stream. */
export interface SourceMessage {
  /** How the partial batch response names the message. */
  identifier: string;
  /** The key whose order the source keeps, known before the message is read. Messages of a standard queue have none. */
  orderingKey?: string;
  /** The record for the stream. Throws a typed error if the message holds none. */
  parse(): ProducerRecord;
}

/** The messages of an SQS or DynamoDB Streams event, in order. */
export function sourceMessages(records: readonly (SQSRecord | DynamoDBRecord)[]): SourceMessage[] {
  return records.map((record, index) => {
    if (isSqsRecord(record)) return sqsMessage(record);
    if (isDynamoDbRecord(record)) return tableChange(record);
    throw new InvalidEventError(
      `Records[${index}].eventSource`,
      (record as { eventSource?: unknown } | null)?.eventSource,
      'aws:sqs or aws:dynamodb',
    );
  });
}

function isSqsRecord(record: SQSRecord | DynamoDBRecord | null): record is SQSRecord {
  return record?.eventSource === 'aws:sqs';
}

function isDynamoDbRecord(record: SQSRecord | DynamoDBRecord | null): record is DynamoDBRecord {
  return record?.eventSource === 'aws:dynamodb';
}

/** A queue's message body is a record in JSON. In a FIFO queue the message group is the default partition key. */
function sqsMessage({ messageId, body, attributes }: SQSRecord): SourceMessage {
  const group = attributes?.MessageGroupId;
  return {
    identifier: messageId,
    orderingKey: group,
    parse: () => {
      const input = parseJson(body);
      const isObject = typeof input === 'object' && input !== null && !Array.isArray(input);
      const withGroup = isObject && group !== undefined ? { partitionKey: group, ...input } : input;
      return parseRecordInput('body', withGroup);
    },
  };
}

/** A table's change becomes a record keyed by the item's key, its data the change as DynamoDB wrote it. */
function tableChange({ eventID, eventName, dynamodb }: DynamoDBRecord): SourceMessage {
  const partitionKey = tableKeyText(dynamodb?.Keys ?? {});
  return {
    identifier: dynamodb?.SequenceNumber ?? '',
    orderingKey: partitionKey,
    parse: () => parseRecordInput('dynamodb', { partitionKey, data: { eventID, eventName, dynamodb } }),
  };
}

/** The item's key values joined by "#", or their SHA-256 where that is longer than a partition key may be. */
function tableKeyText(keys: object): string {
  const text = Object.entries(keys)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, value]) => String(Object.values(value as object)[0]))
    .join('#');
  return text.length <= MAX_PARTITION_KEY_LENGTH ? text : createHash('sha256').update(text).digest('hex');
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw new InvalidEventError('body', `${body.length} characters`, 'a record in JSON');
  }
}
