import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { STREAM_NAME } from '../../../lib/core/contract/function-environment';
import { adviceOf } from '../../support/alarms/advice-of';
import { AlarmInPlay } from '../../support/alarms/alarm-in-play';
import { FifoQueue, type QueueMessage } from '../../support/fakes/fifo-queue';
import { LambdaFunction } from '../../support/lambda-function';

/** What the guide says of records that a producer gives up, and of dead letters, tried on the deployed bundle. */

let kinesis: Server;
let producer: LambdaFunction;
/** What becomes of an entry with this partition key: `undefined` stores it. */
let refusalOf: (partitionKey: string) => string | undefined = () => undefined;
let answers = true;
/** The data of what is stored, in order. */
let stored: string[] = [];

beforeAll(async () => {
  kinesis = createServer(async (request, response) => {
    const { Records = [] } = JSON.parse(await text(request));
    if (!answers) return;
    const results = Records.map(({ PartitionKey, Data }: { PartitionKey: string; Data: string }) => {
      const ErrorCode = refusalOf(PartitionKey);
      if (ErrorCode !== undefined) return { ErrorCode, ErrorMessage: ErrorCode };
      stored.push(Buffer.from(Data, 'base64').toString());
      return { ShardId: 'shardId-000000000000', SequenceNumber: String(stored.length) };
    });
    response.setHeader('content-type', 'application/x-amz-json-1.1');
    response.end(JSON.stringify({ FailedRecordCount: 0, Records: results }));
  }).listen(0, '127.0.0.1');
  await once(kinesis, 'listening');
  const endpoint = `http://127.0.0.1:${(kinesis.address() as AddressInfo).port}`;
  producer = await LambdaFunction.start({ name: 'producer', environment: { [STREAM_NAME]: 'events' }, endpoint });
});

beforeEach(() => {
  refusalOf = () => undefined;
  answers = true;
  stored = [];
});

afterAll(async () => {
  await producer.stop();
  kinesis.close();
  kinesis.closeAllConnections();
});

const REFUSED = 'KMSAccessDeniedException';
const refuse = (refused: string) => {
  refusalOf = (partitionKey) => (partitionKey === refused ? REFUSED : undefined);
};
const record = (partitionKey: string, data: string) => ({ partitionKey, data });
const message = (partitionKey: string, data: string) => ({
  eventSource: 'aws:sqs',
  messageId: `${partitionKey}-${data}`,
  body: JSON.stringify({ partitionKey, data }),
});
const change = (id: string, SequenceNumber: string) => ({
  eventSource: 'aws:dynamodb',
  dynamodb: { Keys: { id: { S: id } }, SequenceNumber },
});

/** The line that a log has of records that failed. */
function failureLine(log: string): { counts: Record<string, number>; samples: Record<string, string> } {
  const lines = log.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));
  return lines.find(({ message: said }) => said?.message === 'records failed').message;
}

/** A metric that an invocation wrote, by its name and the value of its other dimension, if it has one. */
function metricIn(log: string, name: string, reason?: string): number | undefined {
  const lines = log.split('\n').flatMap((line) => (line.includes('"_aws"') ? [JSON.parse(line)] : []));
  return lines.find((line) => name in line && line.Reason === reason)?.[name];
}

describe('producer failures', () => {
  const advice = adviceOf('Producer failures');

  test('a record that the stream refuses: one line with the code of Kinesis, and the record in the answer', async () => {
    expect(advice).toContain('`RECORD_REJECTED` with the error code of Kinesis');
    const alarm = new AlarmInPlay('ProducerFailures');
    const minute = (log: string) => alarm.minute({ UserRecordsFailed: metricIn(log, 'UserRecordsFailed'), Errors: 0 });
    refuse('b');
    const event = { records: [record('a', '1'), record('b', '2'), record('c', '3')] };
    const failed = await producer.invoke(event);
    const answer = JSON.parse(failed.response!);
    expect(failureLine(failed.log)).toMatchObject({ failed: 1, counts: { RECORD_REJECTED: 1 } });
    expect(failureLine(failed.log).samples.RECORD_REJECTED).toContain(REFUSED);
    expect(advice).toContain('`metricUserRecordsFailedByReason` is the same as a metric');
    expect(metricIn(failed.log, 'UserRecordsFailedByReason', 'RECORD_REJECTED')).toBe(1);
    expect(minute(failed.log)).toBe(true);

    expect(advice).toContain('finds each failed record in it, at its place');
    expect(answer.records.map(({ errorCode }: { errorCode?: string }) => errorCode)).toEqual([
      undefined,
      'RECORD_REJECTED',
      undefined,
    ]);
    refusalOf = () => undefined;
    const again = event.records.filter((_, index) => answer.records[index].errorCode !== undefined);
    const mended = await producer.invoke({ records: again });
    expect(JSON.parse(mended.response!).failedRecordCount).toBe(0);
    expect(stored.toSorted()).toEqual(['1', '2', '3']);
    for (let minutes = 0; minutes < 10; minutes++) minute(mended.log);
    expect(alarm.isRaised).toBe(false);
  });

  test('a message that is no record: the field is named', async () => {
    expect(advice).toContain('`INVALID_EVENT` with the field');
    const body = JSON.stringify({ ...record('a', '1'), hashKey: '1' });
    const { log } = await producer.invoke({ Records: [{ ...message('a', '1'), body }] });
    expect(failureLine(log).samples.INVALID_EVENT).toContain('hashKey');
  });

  test('a stream that does not answer: what was not sent is out of time', async () => {
    expect(advice).toContain('`OUT_OF_TIME`');
    answers = false;
    const { log } = await producer.invoke({ records: [record('a', '1'), record('a', '2')] }, 3_000);
    expect(failureLine(log).counts).toMatchObject({ OUT_OF_TIME: 1 });
  });

  test('an invocation that failed as a whole: its error is in the log, and an invalid event has written nothing', async () => {
    expect(advice).toContain('An invocation that failed as a whole has its error in the log');
    expect(advice).toContain('If that error is `INVALID_EVENT`, nothing was written');
    const { error, log } = await producer.invoke({ records: [record('a', '1'), { partitionKey: 'a', dta: '2' }] });
    expect(error).toMatchObject({ code: 'INVALID_EVENT' });
    expect(log).toContain('INVALID_EVENT');
    expect(stored).toEqual([]);
  });

  test('messages of a queue and changes of a table come again: the function reports which have failed', async () => {
    expect(advice).toContain('delivers its messages again');
    expect(advice).toContain('delivers its changes again');
    refuse('b');
    const queue = await producer.invoke({ Records: [message('a', '1'), message('b', '2')] });
    expect(JSON.parse(queue.response!)).toEqual({ batchItemFailures: [{ itemIdentifier: 'b-2' }] });
    refusalOf = () => REFUSED;
    const table = await producer.invoke({ Records: [change('b', '100')] });
    expect(JSON.parse(table.response!)).toEqual({ batchItemFailures: [{ itemIdentifier: '100' }] });
  });

  test('an event that nobody waits for: the invocation succeeds, so that Lambda does not try it again', async () => {
    expect(advice).toContain('has an answer that nobody reads: the records that are refused in it are lost');
    refusalOf = () => REFUSED;
    const { error, response } = await producer.invoke({ records: [record('a', '1')] });
    expect(error).toBeUndefined();
    expect(JSON.parse(response!).failedRecordCount).toBe(1);
  });
});

describe('messages in a dead-letter queue', () => {
  const advice = adviceOf('Messages in a dead-letter queue');

  async function deliver(batch: readonly QueueMessage[]): Promise<ReadonlySet<string>> {
    const Records = batch.map(({ messageId, messageGroupId, body }) => ({
      eventSource: 'aws:sqs',
      eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:inbox.fifo',
      messageId,
      body,
      attributes: { MessageGroupId: messageGroupId },
    }));
    const { response } = await producer.invoke({ Records });
    const { batchItemFailures } = JSON.parse(response!);
    return new Set(batchItemFailures.map(({ itemIdentifier }: { itemIdentifier: string }) => itemIdentifier));
  }

  test('when the cause is gone they are redriven, in their order, behind what was written meanwhile', async () => {
    expect(advice).toContain(
      'Find the cause in the log of the function that should have processed them, remove it, and redrive',
    );
    const queue = new FifoQueue(3);
    const alarm = new AlarmInPlay('DeadDepth');
    const minute = () => alarm.minute({ ApproximateNumberOfMessagesVisible: queue.deadLetters.length });
    refuse('a');
    for (const data of ['1', '2']) queue.send('a', JSON.stringify({ data }));
    queue.send('b', JSON.stringify({ data: 'other' }));
    for (let delivery = 0; delivery < 3; delivery++) await queue.deliverOnce(deliver);
    expect(queue.deadLetters).toHaveLength(2);
    expect(minute()).toBe(true);

    refusalOf = () => undefined;
    queue.send('a', JSON.stringify({ data: '3' }));
    await queue.deliverOnce(deliver);
    queue.redrive();
    while (!queue.isEmpty) await queue.deliverOnce(deliver);
    expect(advice).toContain('later messages of the same group may have been processed meanwhile');
    expect(stored).toEqual(['other', '3', '1', '2']);
    for (let minutes = 0; minutes < 10; minutes++) minute();
    expect(alarm.isRaised).toBe(false);
  });
});
