import type { DynamoDBRecord, SQSRecord } from 'aws-lambda';
import { sourceMessages } from '../../../../lambda/producer/event-source';
import { InvalidArgumentError, type ProducerRecord, RecordTooLargeError } from '../../../../lib/core';

const sqs = (body: string, group?: string, queue = group === undefined ? 'jobs' : 'jobs.fifo') =>
  ({
    eventSource: 'aws:sqs',
    eventSourceARN: `arn:aws:sqs:us-east-1:123456789012:${queue}`,
    messageId: 'm-1',
    body,
    attributes: { MessageGroupId: group },
  }) as unknown as SQSRecord;

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
    expect(only(sqs('{"partitionKey":"a","data":"x"}'))).toEqual({
      identifier: 'm-1',
      orderingKeys: ['a'],
      record: { partitionKey: 'a', data: Buffer.from('x') },
    });
  });

  test('uses the message group of a FIFO queue as the partition key, unless the body contains a partition key', () => {
    expect(only(sqs('{"data":"x"}', 'g'))).toMatchObject({ orderingKeys: ['g', 'g'], record: { partitionKey: 'g' } });
    expect(only(sqs('{"partitionKey":"a","data":"x"}', 'g'))).toMatchObject({
      orderingKeys: ['g', 'a'],
      record: { partitionKey: 'a' },
    });
  });

  test('does not use the message group of a standard queue as partition key', () => {
    expect(only(sqs('{"data":"x"}', 'tenant', 'jobs'))).toMatchObject({ orderingKeys: [], record: expect.any(Error) });
  });

  test.each(['[]', '{"data":"x"}'])('returns an error instead of a record for the body %s', (body) => {
    expect(only(sqs(body)).record).toBeInstanceOf(InvalidArgumentError);
  });

  test('returns the ordering keys of a message even if the record of the message is invalid', () => {
    const body = '{"partitionKey":"a","data":"x","explicitHashKey":"-1"}';
    expect(only(sqs(body, 'g'))).toMatchObject({ orderingKeys: ['g', 'a'], record: expect.any(Error) });
    expect(only(sqs('not json', 'g'))).toMatchObject({ orderingKeys: ['g'], record: expect.any(Error) });
  });

  test('returns an error that does not contain the body if the body is not JSON', () => {
    expect((only(sqs('secret')).record as Error).message).toBe(
      '[INVALID_EVENT] body must be a record as a JSON object, got "6 characters"',
    );
  });

  test('uses the key of the item as the partition key, and the change of the item as the data', () => {
    const message = only(change({ tenant: { S: 't' }, number: { N: '7' } }));
    expect(message).toMatchObject({ identifier: '111', orderingKeys: ['7#t'] });
    const { partitionKey, data } = message.record as ProducerRecord;
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

  test('uses a hash of the table key as the partition key if the table key is too long for a partition key', () => {
    const { orderingKeys } = only(change({ id: { S: 'k'.repeat(300) } }));
    expect(orderingKeys).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)]);
  });

  test('returns an error instead of a record for a change that is larger than the stream accepts', () => {
    const large = { ...change({ id: { S: 'a' } }) };
    large.dynamodb!.NewImage = { text: { S: 'x'.repeat(2_000) } };
    expect(sourceMessages([large], { maxRecordBytes: 1_000 })[0]!.record).toBeInstanceOf(RecordTooLargeError);
    expect(sourceMessages([large], { maxRecordBytes: 10_000 })[0]!.record).not.toBeInstanceOf(Error);
  });

  describe('with sequence: true', () => {
    const fifo = (body: string, group: string, number: string, queue?: string) => {
      const record = sqs(body, group, queue);
      record.attributes.SequenceNumber = number;
      return record;
    };
    const sequences = (...records: (SQSRecord | DynamoDBRecord)[]) =>
      sourceMessages(records, { sequence: true }).map(({ record }) => (record as ProducerRecord).sequence);

    test('returns the sequence numbers of a FIFO queue for each message group', () => {
      expect(
        sequences(
          fifo('{"data":"x"}', 'a', '18849496460467696128'),
          fifo('{"partitionKey":"b","data":"x"}', 'b', '18849496460467696129'),
        ),
      ).toEqual([
        { producerId: expect.stringMatching(/^[\w-]{22}$/), sequenceNumber: 18849496460467696128n },
        { producerId: expect.stringMatching(/^[\w-]{22}$/), sequenceNumber: 18849496460467696129n },
      ]);
    });

    test('returns the sequence numbers of a table stream', () => {
      const record = { ...change({ id: { S: 'a' } }), eventSourceARN: 'arn:aws:dynamodb:us-east-1:1:table/t/stream/1' };
      expect(sequences(record)).toEqual([{ producerId: expect.stringMatching(/^[\w-]{22}$/), sequenceNumber: 111n }]);
    });

    test('returns different producer ids for two items even if the joined parts of their keys are equal', () => {
      const [first, other] = sequences(
        change({ pk: { S: 'a#b' }, sk: { S: 'c' } }),
        change({ pk: { S: 'a' }, sk: { S: 'b#c' } }),
      );
      expect(other!.producerId).not.toBe(first!.producerId);
    });

    test('returns different producer ids for different sources', () => {
      const [first, again, other] = sequences(
        fifo('{"data":"x"}', 'a', '1'),
        fifo('{"data":"x"}', 'a', '2'),
        fifo('{"data":"x"}', 'a', '1', 'others.fifo'),
      );
      expect(again!.producerId).toBe(first!.producerId);
      expect(other!.producerId).not.toBe(first!.producerId);
    });

    test('returns no sequence if the partition key differs from the message group, or if the queue is a standard queue', () => {
      expect(
        sequences(
          fifo('{"partitionKey":"a","data":"x"}', 'g', '1'),
          sqs('{"partitionKey":"a","data":"x"}', 'a', 'standard'),
        ),
      ).toEqual([undefined, undefined]);
    });

    test('returns no sequence without the option sequence', () => {
      expect(only(fifo('{"data":"x"}', 'a', '1')).record).not.toHaveProperty('sequence');
    });
  });

  test('rejects a record of any other event source', () => {
    expect(() => sourceMessages([{ eventSource: 'aws:s3' } as never])).toThrow(
      'Records[0].eventSource must be aws:sqs or aws:dynamodb, got "aws:s3"',
    );
  });

  test.each<[string, object]>([
    ['messageId', { messageId: 7 }],
    ['eventSourceARN', { eventSourceARN: { arn: 'x' } }],
    ['attributes.SequenceNumber', { attributes: { SequenceNumber: '9'.repeat(1_000_000) } }],
  ])('rejects a queue message with a malformed %s', (field, changes) => {
    const record = { ...sqs('{"data":"x"}', 'g'), ...changes } as unknown as SQSRecord;
    expect(() => sourceMessages([record])).toThrow(InvalidArgumentError);
    expect(() => sourceMessages([record])).toThrow(`Records[0].${field} must be`);
  });

  test.each<[string, object]>([
    ['dynamodb.Keys.id', { dynamodb: { Keys: { id: { S: 'a', N: '1' } } } }],
    ['dynamodb.SequenceNumber', { dynamodb: { Keys: {}, SequenceNumber: 7 } }],
  ])('rejects a table change with a malformed %s', (field, changes) => {
    const record = { ...change({ id: { S: 'a' } }), ...changes } as unknown as DynamoDBRecord;
    expect(() => sourceMessages([record])).toThrow(`Records[0].${field} must be`);
  });

  // Node.js 26 can serialize JSON of any depth. Earlier versions throw an error.
  test('returns an error instead of a record for JSON that is nested more deeply than Node.js can serialize', () => {
    const nested = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000));
    const record = isWritten(nested) ? { partitionKey: 'a' } : { code: 'INVALID_EVENT' };
    const deep = `{"partitionKey":"a","data":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    expect(only(sqs(deep)).record).toMatchObject(record);
    const stored = { ...change({ id: { S: 'a' } }), dynamodb: { Keys: { id: { S: 'a' } }, NewImage: { nested } } };
    const message = only(stored as unknown as DynamoDBRecord);
    expect(message.orderingKeys).toEqual(['a']);
    expect('code' in message.record).toBe('code' in record);
  });
});

function isWritten(value: unknown): boolean {
  try {
    return JSON.stringify(value) !== undefined;
  } catch {
    return false;
  }
}
