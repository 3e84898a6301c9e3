import { setMaxListeners } from 'node:events';
import {
  type Delivery,
  EventSourceWorker,
  type ShardBatch,
  type WorkerSettings,
} from '../../../../../bin/local/event-sources/event-source-worker';
import type { KinesisRecord } from '../../../../../bin/stream-shards/shard-reader';
import { MAX_EVENT_BYTES } from '../../../../../lib/core/contract/kinesis-event';
import { VirtualClock } from '../../../../../lib/testing';

const SETTINGS = { batchSize: 3, windowMs: 0, bisects: false, retryMs: 1 };

/** Delivers records to a function that responds with `answer`. Returns the batches as texts such as "1 2 3". */
async function delivered(
  records: readonly (string | KinesisRecord)[],
  { wasInvoked = () => true, ...settings }: Partial<WorkerSettings> & { wasInvoked?: (nth: number) => boolean },
  answer: (batch: readonly string[], nth: number) => Delivery['done'] = ({ length }) => length,
): Promise<{ batches: string[]; discarded: string }> {
  const batches: string[] = [];
  const discarded: string[] = [];
  const textsOf = ({ records: of }: ShardBatch) => of.map(({ SequenceNumber }) => SequenceNumber!);
  const ended = new AbortController();
  // Each batch adds a listener. A limit of 0 prevents the warning of Node.js about many listeners.
  setMaxListeners(0, ended.signal);
  const worker = new EventSourceWorker(
    'shardId-000000000000',
    {
      ...{ ...SETTINGS, ...settings },
      async deliver(batch) {
        batches.push(textsOf(batch).join(' '));
        const done = answer(textsOf(batch), batches.length);
        return { done, problem: 'broken', wasInvoked: wasInvoked(batches.length) };
      },
      onDiscard: (batch) => discarded.push(...textsOf(batch)),
      onProblem: () => {},
    },
    ended.signal,
  );
  for (const record of records) worker.add(typeof record === 'string' ? recordOf(record) : record);
  worker.close();
  await worker.deliver();
  expect(worker.waiting).toEqual([]);
  return { batches, discarded: discarded.join(' ') };
}

function recordOf(SequenceNumber: string, more: Partial<KinesisRecord> = {}): KinesisRecord {
  return { SequenceNumber, PartitionKey: 'a', Data: Buffer.from('x'), ...more };
}

type Answer = (batch: readonly string[], nth: number) => number;
const all: Answer = ({ length }) => length;
const poison2: Answer = (batch) => (batch.includes('2') ? 0 : batch.length);
/** The first `deliveries` deliveries end after `done` records. */
const first =
  (deliveries: number, done: number): Answer =>
  ({ length }, nth) =>
    nth <= deliveries ? done : length;

// Sources: the Lambda developer guide, "Retain discarded batch records for a Kinesis Data Streams event source", and
// "Configuring partial batch response with Kinesis Data Streams and Lambda".
test.each<[string, string, Parameters<typeof delivered>[1], Answer, string[], string]>([
  ['delivers batches of at most batchSize records, in order', '1 2 3 4 5', {}, all, ['1 2 3', '4 5'], ''],
  ['delivers a batch again from the first failed record', '1 2 3 4', {}, first(2, 1), ['1 2 3', '2 3', '3', '4'], ''],
  ['does so with bisection too', '1 2 3', { bisects: true }, first(1, 1), ['1 2 3', '2 3'], ''],
  ['delivers a failed batch before later records', '1 2 3 4', {}, first(2, 0), ['1 2 3', '1 2 3', '1 2 3', '4'], ''],
  [
    'discards a batch after its retries, and continues',
    '1 2 3 4',
    { retries: 1 },
    poison2,
    ['1 2 3', '1 2 3', '4'],
    '1 2 3',
  ],
  ['delivers a batch once with 0 retries', '1 2 3 4', { retries: 0 }, poison2, ['1 2 3', '4'], '1 2 3'],
  [
    'bisects a failing batch, and discards only the poison record',
    '1 2 3 4',
    { retries: 1, bisects: true },
    poison2,
    ['1 2 3', '1 2', '1', '2', '2', '3', '4'],
    '2',
  ],
  [
    'does not count the delivery that bisects a batch as an attempt',
    '1 2 3',
    { retries: 0, bisects: true },
    poison2,
    ['1 2 3', '1 2', '1', '2', '3'],
    '2',
  ],
  [
    'neither counts nor bisects after an invocation that does not reach the function',
    '1 2',
    { retries: 1, bisects: true, wasInvoked: (nth: number) => nth > 3 },
    first(3, 0),
    ['1 2', '1 2', '1 2', '1 2'],
    '',
  ],
  [
    // A snapshot of LocalStack: test_kinesis_report_batch_item_failures. The snapshot for a DynamoDB stream is the same.
    'delivers a record that a response reports alone, with the full number of attempts',
    '0 1 2 3 4 5',
    { retries: 3 },
    (batch) => (batch.includes('5') ? batch.indexOf('5') : batch.length),
    ['0 1 2', '3 4 5', '5', '5', '5', '5'],
    '5',
  ],
])('the worker %s', async (_, records, settings, answer, batches, discarded) => {
  expect(await delivered(records.split(' '), settings, answer)).toMatchObject({ batches, discarded });
});

// The Lambda developer guide, "How Lambda processes records from stream and queue-based event sources".
test('the worker ends a batch at the event size of 6 MiB, and delivers this batch before its window has passed', async () => {
  const large = ['1', '2', '3'].map((number) => recordOf(number, { Data: Buffer.alloc(2_000_000) }));
  expect((await delivered(large, {})).batches).toEqual(['1 2', '3']);
  const clock = new VirtualClock();
  const gathering = delivered(large, { windowMs: 60_000, batchSize: 10_000, clock });
  expect((await clock.runUntil(gathering)).batches).toEqual(['1 2', '3']);
  expect(clock.now()).toBe(0);
});

// The Kinesis developer guide, "Handle large records".
describe('a record that is too large for an event', () => {
  const TOO_LARGE = recordOf('2', { Data: Buffer.alloc(5_242_880), ApproximateArrivalTimestamp: new Date(0) });
  const records = [recordOf('1'), TOO_LARGE, recordOf('3')];

  test('with an on-failure destination, is skipped, and later records are delivered', async () => {
    const tooLarge: string[] = [];
    const onTooLarge = ({ records: [record] }: ShardBatch, bytes: number) => {
      tooLarge.push(`${record!.SequenceNumber}: ${bytes > MAX_EVENT_BYTES}`);
    };
    const found = await delivered(records, { hasOnFailure: true, onTooLarge });
    expect({ ...found, tooLarge }).toMatchObject({ batches: ['1', '3'], discarded: '', tooLarge: ['2: true'] });
  });

  test('without an on-failure destination, blocks its shard until it is too old, even if attempts are limited', async () => {
    const clock = new VirtualClock();
    const settings = { clock, timeOfDay: () => clock.now(), maxAgeMs: 60_000, retries: 0, bisects: true };
    const fresh = { ApproximateArrivalTimestamp: new Date(60_000) };
    let notices = 0;
    const onTooLarge = () => {
      notices += 1;
    };
    const found = await clock.runUntil(delivered([TOO_LARGE, recordOf('3', fresh)], { ...settings, onTooLarge }));
    expect({ ...found, notices }).toMatchObject({ batches: ['3'], discarded: '2', notices: 1 });
    expect(clock.now()).toBeGreaterThan(60_000);
  });

  test('is handled before its batch window has passed, even if the window is long', async () => {
    const clock = new VirtualClock();
    await clock.runUntil(
      delivered([TOO_LARGE, recordOf('3')], { clock, windowMs: 60_000, batchSize: 10_000, hasOnFailure: true }),
    );
    expect(clock.now()).toBe(0);
  });
});

describe('the Lambda developer guide, "Retain discarded batch records for a Kinesis Data Streams event source"', () => {
  test('a batch whose invocations do not reach the function is delivered until the batch is too old', async () => {
    const clock = new VirtualClock();
    const settings = { clock, timeOfDay: () => clock.now(), maxAgeMs: 60_000, wasInvoked: () => false };
    const record = recordOf('1', { ApproximateArrivalTimestamp: new Date(0) });
    const end = await clock.runUntil(
      delivered([record], { ...settings, retries: 0, retryMs: 16_000, longestRetryMs: 16_000 }, () => 0),
    );
    expect(end).toMatchObject({ batches: ['1', '1', '1', '1'], discarded: '1' });
  });

  test('without a maximum of retries, a batch is delivered until all records are done, and each delay doubles up to a limit', async () => {
    const clock = new VirtualClock();
    const at: number[] = [];
    const answer = ({ length }: readonly string[], nth: number): number => {
      at.push(clock.now());
      return nth < 6 ? 0 : length;
    };
    const { discarded } = await clock.runUntil(
      delivered(['1'], { clock, retryMs: 1_000, longestRetryMs: 5_000 }, answer),
    );
    expect({ at, discarded }).toEqual({ at: [0, 1_000, 3_000, 7_000, 12_000, 17_000], discarded: '' });
  });
});

test('the worker discards a record that is older than the maximum age, and does not deliver it', async () => {
  const record = (number: string, ageMs: number) =>
    recordOf(number, { ApproximateArrivalTimestamp: new Date(Date.now() - ageMs) });
  const records = [record('1', 120_000), record('2', 0), record('3', 0)];
  expect(await delivered(records, { maxAgeMs: 60_000 })).toMatchObject({ batches: ['2 3'], discarded: '1' });
});

test('a batch window collects records until the batch is full or the window has passed', async () => {
  const batches: string[] = [];
  const aborted = new AbortController();
  const worker = new EventSourceWorker(
    'shardId-000000000000',
    {
      ...{ ...SETTINGS, windowMs: 60_000 },
      deliver: async ({ records }) => {
        batches.push(records.map(({ SequenceNumber }) => SequenceNumber).join(' '));
        return { done: records.length };
      },
      onDiscard: () => {},
      onProblem: () => {},
    },
    aborted.signal,
  );
  const delivering = worker.deliver();
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  for (const number of ['1', '2', '3', '4']) {
    worker.add(recordOf(number));
    await turn();
  }
  expect(batches).toEqual(['1 2 3']);
  aborted.abort();
  await delivering;
  expect(batches).toEqual(['1 2 3']);
});
