import { OUTBOX_SCHEMA_VERSION } from '../../../../lib/core/outbox/outbox-schema';
import { relaySettings } from '../../../../lib/core/outbox/relay-options';
import { type ReplayOptions, replay } from '../../../../lib/core/outbox/replay';
import { type RecordSink, Streams } from '../../../../lib/core/outbox/streams';
import { VirtualClock } from '../../../../lib/testing';
import { fakeStatements } from '../../../support/postgres/outbox-statements';

/** Five rows were sent before the replay, and two more are sent during the replay. */
const LAST_AT_FIRST = 5;
const SENT = [1, 2, 3, 4, 5, 6, 7];

const ROW = {
  partition_key: 'k',
  data: new Uint8Array(),
  explicit_hash_key: null,
  type: null,
  headers: null,
  topic: null,
  created_at: new Date(0),
};

type PutAll = RecordSink['putAll'];
const acceptAll: PutAll = async () => ({ delivered: 0, rejected: 0 });

/** Replays the outbox in batches of two rows. Returns the number of replayed rows and the ids of each batch. */
async function replayed(options: ReplayOptions, putAll = acceptAll): Promise<{ count: number; batches: number[][] }> {
  const batches: number[][] = [];
  const batchOf = ([afterId, lastId]: readonly unknown[]): number[] => {
    const batch = SENT.filter((id) => id > Number(afterId) && id <= Number(lastId)).slice(0, 2);
    batches.push(batch);
    return batch;
  };
  const { statements } = fakeStatements({
    hasSettingsTable: [{ there: true }],
    readVersion: [{ version: OUTBOX_SCHEMA_VERSION }],
    readLastNumber: [{ producer_id: 'p', last_value: `${LAST_AT_FIRST}` }],
    readSentRows: (values) => batchOf(values).map((id) => ({ ...ROW, id })),
    putSentRowsAgain: (values) => {
      const batch = batchOf(values);
      return batch.length === 0 ? [] : [{ rows: batch.length, last_id: batch.at(-1) }];
    },
  });
  const settings = relaySettings({ batchRows: 2, clock: new VirtualClock() });
  const count = await replay(statements, settings, new Streams({ putAll }), options);
  return { count, batches };
}

describe.each(['sent', 'new'] as const)('a replay as %s', (as) => {
  test.each<[string, ReplayOptions, number, number[][]]>([
    ['all rows that were sent before its start', {}, 5, [[1, 2], [3, 4], [5], []]],
    ['the rows from firstId on', { firstId: 2n }, 4, [[2, 3], [4, 5], []]],
    ['the rows up to lastId', { lastId: 3n }, 3, [[1, 2], [3], []]],
    ['no rows that were sent after its start', { firstId: 4n, lastId: 7n }, 2, [[4, 5], []]],
    ['no rows if firstId is after the last row', { firstId: 6n }, 0, [[]]],
  ])('includes %s', async (_, options, count, batches) => {
    const putAll = jest.fn(acceptAll);
    expect(await replayed({ ...options, as }, putAll)).toEqual({ count, batches });
    // With `as: 'new'`, the rows are inserted into the outbox.
    expect(putAll).toHaveBeenCalledTimes(as === 'new' ? 0 : batches.length - 1);
  });

  test('includes no rows if its signal is already aborted', async () => {
    expect(await replayed({ as, signal: AbortSignal.abort() })).toEqual({ count: 0, batches: [] });
  });
});

test('an aborted replay ends after the current batch', async () => {
  const abort = new AbortController();
  const putAll: PutAll = async (rows) => {
    abort.abort();
    return acceptAll(rows);
  };
  expect(await replayed({ signal: abort.signal }, putAll)).toEqual({ count: 2, batches: [[1, 2]] });
});

test('a replay ends with an error that contains the id of the first rejected row', async () => {
  const error = new Error('too large');
  let puts = 0;
  const putAll: PutAll = async (rows) => {
    puts += 1;
    return puts === 1 ? acceptAll(rows) : { delivered: 1, rejected: 1, firstRejection: { index: 0, error } };
  };
  await expect(replayed({}, putAll)).rejects.toMatchObject({ code: 'OUTBOX_REPLAY', firstId: 3n, cause: error });
});

const MAX_ID = 2n ** 63n - 1n;
const [MIN_TIME, MAX_TIME] = [new Date('0001-01-01T00:00:00Z'), new Date('9999-12-31T23:59:59.999Z')];

test.each<[string, unknown]>([
  ['as', 'old'],
  ['as', null],
  ['sentFrom', 0],
  ['sentFrom', new Date(Number.NaN)],
  ['sentFrom', new Date(MIN_TIME.getTime() - 1)],
  ['sentBefore', '2026-11-24'],
  ['sentBefore', new Date(MAX_TIME.getTime() + 1)],
  ['sentBefore', null],
  ['firstId', 1],
  ['firstId', -1n],
  ['firstId', MAX_ID + 1n],
  ['lastId', Number.NaN],
  ['lastId', MAX_ID + 1n],
  ['lastId', null],
  ['partitionKey', ''],
  ['partitionKey', 'k\0'],
  ['partitionKey', 'k\ud800'],
  ['partitionKey', 'k'.repeat(257)],
  ['partitionKey', 7],
  ['partitionKey', null],
  ['signal', 'aborted'],
])('a replay rejects the wrong %s: %p', async (field, value) => {
  await expect(replayed({ [field]: value })).rejects.toMatchObject({
    code: expect.stringMatching(/^INVALID_(ARGUMENT|PARTITION_KEY)$/),
    field,
    message: expect.stringContaining(' must be '),
  });
});

test('a replay rejects options that are not an object', async () => {
  await expect(replayed(null as never)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', field: 'options' });
});

test('a replay accepts the lowest and the highest values of its options', async () => {
  const partitionKey = '😀'.repeat(128);
  expect(await replayed({ firstId: 0n, lastId: MAX_ID, partitionKey })).toMatchObject({ count: 5 });
  expect(await replayed({ firstId: MAX_ID, sentFrom: MIN_TIME, sentBefore: MAX_TIME })).toMatchObject({ count: 0 });
});

test('a replay accepts a period of time', async () => {
  expect(await replayed({ sentFrom: new Date(0), sentBefore: new Date(1) })).toMatchObject({ count: 5 });
});
