import { createHash } from 'node:crypto';
import type { DynamoDBRecord, SQSRecord } from 'aws-lambda';
import { MAX_PARTITION_KEY_LENGTH, type ProducerRecord } from '../../lib/core/producer/producer-record';
import { InvalidEventError } from '../invalid-event-error';
import { parseRecordInput } from './record-input';

/** One message of a batch that Lambda delivers from a queue or a stream. */
export interface SourceMessage {
  /** How the partial batch response names the message. */
  identifier: string;
  /** What must not go on once the message has failed: its partition key, and its group in a FIFO queue. */
  orderingKeys: string[];
  /** The record for the stream, or why the message holds none. */
  record: ProducerRecord | Error;
}

/** The messages of an SQS or DynamoDB Streams event, in order. */
export function sourceMessages(
  records: readonly (SQSRecord | DynamoDBRecord)[],
  maxRecordBytes?: number,
): SourceMessage[] {
  return records.map((record, index) => {
    if (isSqsRecord(record)) return sqsMessage(record, maxRecordBytes);
    if (isDynamoDbRecord(record)) return tableChange(record, maxRecordBytes);
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
function sqsMessage(
  { messageId, body, attributes, eventSourceARN }: SQSRecord,
  maxRecordBytes: number | undefined,
): SourceMessage {
  // A standard queue may have message groups too, to share it fairly; they say nothing of order.
  const group = eventSourceARN?.endsWith('.fifo') ? attributes?.MessageGroupId : undefined;
  const groups = group === undefined ? [] : [group];
  try {
    const input = { ...(group !== undefined && { partitionKey: group }), ...parseObject(body) };
    const ownKey = typeof input.partitionKey === 'string' ? [input.partitionKey] : [];
    return {
      identifier: messageId,
      orderingKeys: [...groups, ...ownKey],
      record: recordOrError('body', input, maxRecordBytes),
    };
  } catch (error) {
    return { identifier: messageId, orderingKeys: groups, record: error as Error };
  }
}

/** A table's change becomes a record keyed by the item's key, its data the change as DynamoDB wrote it. */
function tableChange(
  { eventID, eventName, dynamodb }: DynamoDBRecord,
  maxRecordBytes: number | undefined,
): SourceMessage {
  const partitionKey = tableKeyText(dynamodb?.Keys ?? {});
  return {
    identifier: dynamodb?.SequenceNumber ?? '',
    orderingKeys: [partitionKey],
    record: recordOrError('dynamodb', { partitionKey, data: { eventID, eventName, dynamodb } }, maxRecordBytes),
  };
}

function recordOrError(field: string, input: unknown, maxRecordBytes: number | undefined): ProducerRecord | Error {
  try {
    return parseRecordInput(field, input, maxRecordBytes);
  } catch (error) {
    return error as Error;
  }
}

/** The item's key values joined by "#", or their SHA-256 where that is longer than a partition key may be. */
function tableKeyText(keys: object): string {
  const text = Object.entries(keys)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, value]) => String(Object.values(value as object)[0]))
    .join('#');
  return text.length <= MAX_PARTITION_KEY_LENGTH ? text : createHash('sha256').update(text).digest('hex');
}

function parseObject(body: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Reported below: the parser's own message may quote the body.
  }
  throw new InvalidEventError('body', `${body.length} characters`, 'a record as a JSON object');
}
