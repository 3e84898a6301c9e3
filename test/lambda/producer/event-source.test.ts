import type { DynamoDBRecord, SQSRecord } from 'aws-lambda';
import { sourceMessages } from '../../../lambda/producer/event-source';
import { InvalidArgumentError } from '../../../lib/core';

const sqs = (body: string, group?: string) =>
  ({ eventSource: 'aws:sqs', messageId: 'm-1', body, attributes: { MessageGroupId: group } }) as unknown as SQSRecord;

const change = (keys: object) =>
  ({
    eventSource: 'aws:dynamodb',
    eventID: 'e-1',
    eventName: 'MODIFY',
    dynamodb: { Keys: keys, SequenceNumber: '111', NewImage: { status: { S: 'failed' } } },
  }) as unknown as DynamoDBRecord;

const only = (record: SQSRecord | DynamoDBRecord) => sourceMessages([record])[0]!;

describe('sourceMessages', () => {
  test('reads a record from the body of a queue message', () => {
    const message = only(sqs('{"partitionKey":"a","data":"x"}'));
    expect(message).toMatchObject({ identifier: 'm-1', orderingKey: undefined });
    expect(message.parse()).toEqual({ partitionKey: 'a', data: Buffer.from('x') });
  });

  test('takes the message group of a FIFO queue for the partition key, unless the body has one', () => {
    expect(only(sqs('{"data":"x"}', 'g')).parse().partitionKey).toBe('g');
    expect(only(sqs('{"partitionKey":"a","data":"x"}', 'g')).parse().partitionKey).toBe('a');
    expect(only(sqs('{"data":"x"}', 'g')).orderingKey).toBe('g');
  });

  test.each(['not json', '[]', '"text"', '{"data":"x"}'])('fails for the body %s of a standard queue', (body) => {
    expect(() => only(sqs(body)).parse()).toThrow(InvalidArgumentError);
  });

  test('does not repeat a body that is no JSON in its error', () => {
    expect(() => only(sqs('secret')).parse()).toThrow('body must be a record in JSON, got "6 characters"');
  });

  test("keys a table's change by the item's key, its data the change as DynamoDB wrote it", () => {
    const message = only(change({ tenant: { S: 't' }, number: { N: '7' } }));
    expect(message).toMatchObject({ identifier: '111', orderingKey: '7#t' });
    const { partitionKey, data } = message.parse();
    expect(partitionKey).toBe('7#t');
    expect(JSON.parse(Buffer.from(data).toString())).toEqual({
      eventID: 'e-1',
      eventName: 'MODIFY',
      dynamodb: {
        Keys: { tenant: { S: 't' }, number: { N: '7' } },
        SequenceNumber: '111',
        NewImage: { status: { S: 'failed' } },
      },
    });
  });

  test('hashes a table key that is longer than a partition key may be', () => {
    const { orderingKey } = only(change({ id: { S: 'k'.repeat(300) } }));
    expect(orderingKey).toMatch(/^[0-9a-f]{64}$/);
  });

  test('fails for another event source', () => {
    expect(() => sourceMessages([{ eventSource: 'aws:s3' } as never])).toThrow(
      'Records[0].eventSource must be aws:sqs or aws:dynamodb, got "aws:s3"',
    );
  });
});
