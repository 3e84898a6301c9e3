import { attributesOf, type DynamoDbItem } from '../../aws-client/attribute-value';
import { InvalidArgumentError } from '../../kernel/errors';
import { convertedBinary } from '../client/attribute-json';

/** The event of an event source mapping to the stream of a table. */
interface TableStreamEvent {
  /** The records of one shard, in order. */
  Records: readonly object[];
}

/** The last change of an item in a batch. */
export interface TableChange {
  /** The table key of the item. */
  key: DynamoDbItem;
  /** The table key as text. Different items have different texts. */
  keyText: string;
  /** The requested attributes of the item after the change. Absent if the stream has no new images. */
  image?: DynamoDbItem;
  /** The sequence number of the record in the stream. */
  sequenceNumber: string;
  /** The index of the record in the batch. */
  batchIndex: number;
  /** When the item was changed, in milliseconds since 1970. DynamoDB rounds this time to seconds. */
  changedAtMs: number;
}

/** The changes of a batch, and their stream. */
interface TableChanges {
  /** The ARN of the stream. A stream that is turned off and on again has another ARN. */
  streamArn: string;
  /** The last change of each item, without the items that are deleted. */
  changes: TableChange[];
}

/**
 * Returns the last change of each item in an event. The image of the last change contains the effects of the earlier changes.
 *
 * @param attributes the attributes of an image that the caller needs
 * @throws InvalidArgumentError if the event is not from the stream of this table
 */
export function tableChanges(
  event: unknown,
  tableName: string,
  tableKey: readonly string[],
  attributes: readonly string[],
): TableChanges {
  const { Records }: Partial<TableStreamEvent> = Object(event);
  if (!Array.isArray(Records) || Records.length === 0) {
    throw new InvalidArgumentError('event', event, 'the event of a table stream, with at least one record');
  }
  const streamArn: unknown = Object(Records[0]).eventSourceARN;
  if (typeof streamArn !== 'string' || !streamArn.includes(`:table/${tableName}/stream/`)) {
    throw new InvalidArgumentError('event.Records[0].eventSourceARN', streamArn, `the stream of table ${tableName}`);
  }
  const last = new Map<string, TableChange | undefined>();
  for (const [batchIndex, record] of Records.entries()) {
    const { eventName, dynamodb } = Object(record);
    const { Keys, NewImage, SequenceNumber, ApproximateCreationDateTime } = Object(dynamodb);
    const field = `event.Records[${batchIndex}].dynamodb`;
    const key = fromEvent(Keys, tableKey);
    if (Object.keys(key).length < tableKey.length) {
      throw new InvalidArgumentError(`${field}.Keys`, Keys, `the table key ${tableKey.join(' and ')}`);
    }
    if (typeof SequenceNumber !== 'string') {
      throw new InvalidArgumentError(`${field}.SequenceNumber`, SequenceNumber, 'a sequence number');
    }
    const keyText = keyTextOf(key);
    last.set(
      keyText,
      eventName === 'REMOVE'
        ? undefined
        : {
            key,
            keyText,
            ...(NewImage !== undefined && { image: fromEvent(NewImage, attributes) }),
            sequenceNumber: SequenceNumber,
            batchIndex,
            changedAtMs: Number(ApproximateCreationDateTime) * 1_000,
          },
    );
  }
  return { streamArn, changes: [...last.values()].filter((change) => change !== undefined) };
}

/** A table key as text. Different keys have different texts. DynamoDB returns the attributes of a stored key in any order. */
export function keyTextOf(key: DynamoDbItem): string {
  return JSON.stringify(
    Object.keys(key)
      .sort()
      .map((name) => {
        const value = key[name]!;
        return 'B' in value ? { B: Buffer.from(value.B).toString('base64') } : value;
      }),
  );
}

/** Takes attributes of an item from an event. In an event, a binary value is a text in base64. */
function fromEvent(item: unknown, attributes: readonly string[]): DynamoDbItem {
  const bytes = (text: Uint8Array | string) => (typeof text === 'string' ? Buffer.from(text, 'base64') : text);
  return convertedBinary(attributesOf(Object(item), attributes), bytes) as DynamoDbItem;
}
