import { createHash } from 'node:crypto';
import type { DynamoDBRecord, SQSRecord } from 'aws-lambda';
import { isRecord } from '../../lib/core/kernel/checks';
import { MAX_PARTITION_KEY_LENGTH } from '../../lib/core/producer/producer-record';
import type { RecordSequence } from '../../lib/core/stream-format/record-sequence';
import { InvalidEventError } from '../invalid-event-error';
import { type OwnedRecord, parseRecordInput, type RecordLimits } from './record-input';

/** One message of a batch that Lambda delivers from a queue or a stream. */
export interface SourceMessage {
  /** The identifier of the message in the partial batch response. */
  identifier: string;
  /**
   * The partition key of the message, and its group in a FIFO queue. If the message fails, later messages with one of
   * these keys must wait.
   */
  orderingKeys: string[];
  /** The record for the stream, or the error if the message is malformed. */
  record: OwnedRecord | Error;
}

interface SourceOptions extends RecordLimits {
  /**
   * Whether records are sequenced with the sequence numbers of their source. The source must number the records of each
   * partition key.
   */
  sequence?: boolean;
}

/**
 * The messages of an SQS or DynamoDB Streams event, in order.
 *
 * @throws InvalidEventError if a field that both services always send is malformed. Without the id of a message, the
 *   function cannot report the failure of this message
 */
export function sourceMessages(
  records: readonly (SQSRecord | DynamoDBRecord)[],
  options: SourceOptions = {},
): SourceMessage[] {
  return records.map((record, index) => {
    const field = `Records[${index}]`;
    const { eventSource } = Object(record);
    if (eventSource !== 'aws:sqs' && eventSource !== 'aws:dynamodb') {
      throw new InvalidEventError(`${field}.eventSource`, eventSource, 'aws:sqs or aws:dynamodb');
    }
    return eventSource === 'aws:sqs'
      ? sqsMessage(checkedSqsRecord(field, record as SQSRecord), options)
      : tableChange(checkedDynamoDbRecord(field, record as DynamoDBRecord), options);
  });
}

function checkedSqsRecord(field: string, record: SQSRecord): SQSRecord {
  const { messageId, body, eventSourceARN, attributes } = record;
  checkText(`${field}.messageId`, messageId);
  checkText(`${field}.body`, body);
  checkOptionalText(`${field}.eventSourceARN`, eventSourceARN);
  checkOptionalText(`${field}.attributes.MessageGroupId`, attributes?.MessageGroupId);
  checkSequenceNumber(`${field}.attributes.SequenceNumber`, attributes?.SequenceNumber);
  return record;
}

function checkedDynamoDbRecord(field: string, record: DynamoDBRecord): DynamoDBRecord {
  const { dynamodb, eventSourceARN } = record;
  checkOptionalText(`${field}.eventSourceARN`, eventSourceARN);
  checkSequenceNumber(`${field}.dynamodb.SequenceNumber`, dynamodb?.SequenceNumber);
  for (const [name, value] of Object.entries(dynamodb?.Keys ?? {})) {
    const types = Object.values(Object(value));
    if (types.length !== 1 || typeof types[0] !== 'string') {
      throw new InvalidEventError(`${field}.dynamodb.Keys.${name}`, value, 'a key of type S, N or B');
    }
  }
  return record;
}

function checkText(field: string, value: unknown): void {
  if (typeof value !== 'string') throw new InvalidEventError(field, value, 'a string');
}

function checkOptionalText(field: string, value: unknown): void {
  if (value !== undefined) checkText(field, value);
}

/** The sequence numbers of the services have up to 40 digits. */
const SEQUENCE_NUMBER = /^\d{1,40}$/;

function checkSequenceNumber(field: string, value: unknown): void {
  if (value === undefined || (typeof value === 'string' && SEQUENCE_NUMBER.test(value))) return;
  throw new InvalidEventError(field, value, 'a string of up to 40 digits');
}

/**
 * The message of a queue. Its body is a record in JSON. In a FIFO queue, the message group is the default partition
 * key.
 */
function sqsMessage(
  { messageId, body, attributes, eventSourceARN }: SQSRecord,
  { sequence, ...limits }: SourceOptions,
): SourceMessage {
  // A standard queue can have message groups too, for fair queues, but these groups have no order.
  const group = eventSourceARN?.endsWith('.fifo') ? attributes?.MessageGroupId : undefined;
  const groups = group === undefined ? [] : [group];
  try {
    const input = { ...(group !== undefined && { partitionKey: group }), ...parseObject(body) };
    const ownKey = typeof input.partitionKey === 'string' ? [input.partitionKey] : [];
    // The queue numbers the messages of each group. The numbers of a key have no order if its records come from several
    // groups.
    const isNumbered = sequence && group !== undefined && input.partitionKey === group;
    return {
      identifier: messageId,
      orderingKeys: [...groups, ...ownKey],
      record: recordOrError('body', input, {
        limits,
        sequence: isNumbered ? sourceSequence([eventSourceARN], attributes?.SequenceNumber) : undefined,
      }),
    };
  } catch (error) {
    return { identifier: messageId, orderingKeys: groups, record: error as Error };
  }
}

/**
 * The record for a change of a table. Its partition key is the key of the item, and its data is the change as DynamoDB
 * wrote it.
 */
function tableChange(
  { eventID, eventName, dynamodb, eventSourceARN }: DynamoDBRecord,
  { sequence, ...limits }: SourceOptions,
): SourceMessage {
  const keys = Object.entries(dynamodb?.Keys ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  const partitionKey = tableKeyText(keys);
  const input = { partitionKey, data: { eventID, eventName, dynamodb } };
  return {
    identifier: dynamodb?.SequenceNumber ?? '',
    orderingKeys: [partitionKey],
    record: recordOrError('dynamodb', input, {
      limits,
      // The table numbers the changes of each item. Two items can have the same partition key, such as "a#b" with "c"
      // and "a" with "b#c", so the producer id contains the key attributes.
      sequence: sequence ? sourceSequence([eventSourceARN, keys], dynamodb?.SequenceNumber) : undefined,
    }),
  };
}

/**
 * The sequence number of a message, and a producer id. All messages that the source numbers together (those of one
 * message group, or of one item) have the same producer id. The id is a hash, because names can be long.
 */
function sourceSequence(series: unknown[], number: string | undefined): RecordSequence | undefined {
  if (number === undefined) return undefined;
  const producerId = createHash('sha256').update(JSON.stringify(series)).digest('base64url').slice(0, 22);
  return { producerId, sequenceNumber: BigInt(number) };
}

function recordOrError(
  field: string,
  input: unknown,
  { limits, sequence }: { limits: RecordLimits; sequence: RecordSequence | undefined },
): OwnedRecord | Error {
  try {
    const record = parseRecordInput(field, input, limits);
    return sequence === undefined ? record : { ...record, sequence };
  } catch (error) {
    return error as Error;
  }
}

/** The key values of an item joined by "#". If the text is too long for a partition key, its SHA-256. */
function tableKeyText(keys: [name: string, value: object][]): string {
  const text = keys.map(([, value]) => String(Object.values(value)[0])).join('#');
  return text.length <= MAX_PARTITION_KEY_LENGTH ? text : createHash('sha256').update(text).digest('hex');
}

function parseObject(body: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body);
    if (isRecord(value)) return value;
  } catch {
    // The error below replaces the error of the parser, which may quote the body.
  }
  throw new InvalidEventError('body', `${body.length} characters`, 'a record as a JSON object');
}
