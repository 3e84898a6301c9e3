import { type Delivery, Lane, type LaneSettings, type ShardBatch } from '../../../../../bin/local/event-sources/lane';
import type { KinesisRecord } from '../../../../../bin/stream-shards/shard-reader';

const SETTINGS = { batchSize: 3, windowMs: 0, bisects: false, retryMs: 1 };

/** What is delivered of records, each a text, to a function that answers so; text for a batch, as "1 2 3". */
async function delivered(
  records: readonly (string | KinesisRecord)[],
  settings: Partial<LaneSettings>,
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
        return { done: answer(textsOf(batch), batches.length), problem: 'broken' };
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

test('a batch fits into an event', async () => {
  const large = ['1', '2', '3'].map((number) => recordOf(number, { Data: Buffer.alloc(2_000_000) }));
  expect((await delivered(large, {})).batches).toEqual(['1 2', '3']);
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
