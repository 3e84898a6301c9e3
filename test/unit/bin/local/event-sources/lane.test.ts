import { type Delivery, Lane, type LaneSettings, type ShardBatch } from '../../../../../bin/local/event-sources/lane';
import type { KinesisRecord } from '../../../../../bin/stream-shards/shard-reader';
import { VirtualClock } from '../../../../../lib/testing';

const SETTINGS = { batchSize: 3, windowMs: 0, bisects: false, retryMs: 1 };

/** What is delivered of records, each a text, to a function that answers so; text for a batch, as "1 2 3". */
async function delivered(
  records: readonly (string | KinesisRecord)[],
  { wasInvoked = () => true, ...settings }: Partial<LaneSettings> & { wasInvoked?: (nth: number) => boolean },
  answer: (batch: readonly string[], nth: number) => Delivery['done'] = ({ length }) => length,
): Promise<{ batches: string[]; discarded: string; problems: string[] }> {
  const batches: string[] = [];
  const problems: string[] = [];
  const discarded: string[] = [];
  const textsOf = ({ records: of }: ShardBatch) => of.map(({ SequenceNumber }) => SequenceNumber!);
  const lane = new Lane(
    'shardId-000000000000',
    {
      ...{ ...SETTINGS, ...settings },
      async deliver(batch) {
        batches.push(textsOf(batch).join(' '));
        const done = answer(textsOf(batch), batches.length);
        return { done, problem: 'broken', wasInvoked: wasInvoked(batches.length) };
      },
      onDiscard: (batch) => discarded.push(...textsOf(batch)),
      onProblem: (problem) => problems.push(problem),
    },
    new AbortController().signal,
  );
  for (const record of records) lane.add(typeof record === 'string' ? recordOf(record) : record);
  lane.close();
  await lane.deliver();
  expect(lane.waiting).toEqual([]);
  return { batches, discarded: discarded.join(' '), problems };
}

function recordOf(SequenceNumber: string, more: Partial<KinesisRecord> = {}): KinesisRecord {
  return { SequenceNumber, PartitionKey: 'a', Data: Buffer.from('x'), ...more };
}

test('batches have at most so many records, in order', async () => {
  const { batches } = await delivered(['1', '2', '3', '4', '5'], {});
  expect(batches).toEqual(['1 2 3', '4 5']);
});

// The Lambda developer guide, "How Lambda processes records from stream and queue-based event sources".
test('a batch fits into an event of 6 MB, and waits no longer when it is full', async () => {
  const large = ['1', '2', '3'].map((number) => recordOf(number, { Data: Buffer.alloc(2_000_000) }));
  expect((await delivered(large, {})).batches).toEqual(['1 2', '3']);
  const clock = new VirtualClock();
  const gathering = delivered(large, { windowMs: 60_000, batchSize: 10_000, clock });
  expect((await clock.runUntil(gathering)).batches).toEqual(['1 2', '3']);
  expect(clock.now()).toBe(0);
});

test('a record that is too large for an event is delivered alone', async () => {
  const large = [recordOf('1'), recordOf('2', { Data: Buffer.alloc(10_485_760) }), recordOf('3')];
  expect((await delivered(large, {})).batches).toEqual(['1', '2', '3']);
});

test('a batch comes again from the first record that is not done, until all are', async () => {
  const { batches, problems } = await delivered(['1', '2', '3', '4'], {}, ({ length }, nth) => (nth < 3 ? 1 : length));
  expect(batches).toEqual(['1 2 3', '2 3', '3', '4']);
  expect(problems).toEqual(['broken', 'broken']);
});

test('a batch that fails as a whole comes again as it is, and later records wait', async () => {
  const { batches } = await delivered(['1', '2', '3', '4'], {}, ({ length }, nth) => (nth < 4 ? 0 : length));
  expect(batches).toEqual(['1 2 3', '1 2 3', '1 2 3', '1 2 3', '4']);
});

test('what is past its bound of attempts is discarded, and the shard goes on', async () => {
  const isPoison = (batch: readonly string[]) => batch.includes('2');
  const { batches, discarded } = await delivered(['1', '2', '3', '4'], { retries: 1 }, (batch) =>
    isPoison(batch) ? 0 : batch.length,
  );
  expect(batches).toEqual(['1 2 3', '1 2 3', '4']);
  expect(discarded).toBe('1 2 3');
});

test('bisecting finds the record that fails', async () => {
  const isPoison = (batch: readonly string[]) => batch.includes('2');
  const { batches, discarded } = await delivered(['1', '2', '3', '4'], { retries: 1, bisects: true }, (batch) =>
    isPoison(batch) ? 0 : batch.length,
  );
  expect(batches).toEqual(['1 2 3', '1 2', '1', '2', '2', '3', '4']);
  expect(discarded).toBe('2');
});

describe('the Lambda developer guide, "Retain discarded batch records for a Kinesis Data Streams event source"', () => {
  test('what cannot be invoked uses nothing of the bound of attempts, and is not divided', async () => {
    const bounds = { retries: 1, bisects: true, wasInvoked: (nth: number) => nth > 3 };
    const { batches, discarded } = await delivered(['1', '2'], bounds, ({ length }, nth) => (nth > 3 ? length : 0));
    expect(batches).toEqual(['1 2', '1 2', '1 2', '1 2']);
    expect(discarded).toBe('');
  });

  test('what cannot be invoked comes again until it is too old', async () => {
    const clock = new VirtualClock();
    const settings = { clock, timeOfDay: () => clock.now(), maxAgeMs: 60_000, wasInvoked: () => false };
    const record = recordOf('1', { ApproximateArrivalTimestamp: new Date(0) });
    const end = await clock.runUntil(
      delivered([record], { ...settings, retries: 0, retryMs: 16_000, longestRetryMs: 16_000 }, () => 0),
    );
    expect(end).toMatchObject({ batches: ['1', '1', '1', '1'], discarded: '1' });
  });

  test('to divide a batch uses nothing of the bound of attempts', async () => {
    const isPoison = (batch: readonly string[]) => batch.includes('2');
    const settings = { retries: 0, bisects: true };
    const end = await delivered(['1', '2', '3'], settings, (batch) => (isPoison(batch) ? 0 : batch.length));
    expect(end).toMatchObject({ batches: ['1 2 3', '1 2', '1', '2', '3'], discarded: '2' });
  });

  test('a bound of no attempts delivers once', async () => {
    const end = await delivered(['1', '2', '3', '4'], { retries: 0 }, (batch) => (batch[0] === '1' ? 0 : batch.length));
    expect(end).toMatchObject({ batches: ['1 2 3', '4'], discarded: '1 2 3' });
  });

  test('without bounds a batch comes again until it is done, and each wait is twice as long, up to a bound', async () => {
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

// The Lambda developer guide, "Configuring partial batch response with Kinesis Data Streams and Lambda".
test('a batch that is reported in part is divided there, and nowhere else, though a mapping bisects', async () => {
  const { batches } = await delivered(['1', '2', '3'], { bisects: true }, ({ length }, nth) => (nth < 2 ? 1 : length));
  expect(batches).toEqual(['1 2 3', '2 3']);
});

test('what is past its bound of age is discarded before it is delivered', async () => {
  const record = (number: string, ageMs: number) =>
    recordOf(number, { ApproximateArrivalTimestamp: new Date(Date.now() - ageMs) });
  const records = [record('1', 120_000), record('2', 0), record('3', 0)];
  expect(await delivered(records, { maxAgeMs: 60_000 })).toMatchObject({ batches: ['2 3'], discarded: '1' });
});

test('a window gathers records until there are enough, or until it is over', async () => {
  const batches: string[] = [];
  const aborted = new AbortController();
  const lane = new Lane(
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
  const delivering = lane.deliver();
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  for (const number of ['1', '2', '3', '4']) {
    lane.add(recordOf(number));
    await turn();
  }
  expect(batches).toEqual(['1 2 3']);
  aborted.abort();
  await delivering;
  expect(batches).toEqual(['1 2 3']);
});
