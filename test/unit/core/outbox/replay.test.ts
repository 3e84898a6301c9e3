import { OUTBOX_SCHEMA_VERSION } from '../../../../lib/core/outbox/outbox-schema';
import { relaySettings } from '../../../../lib/core/outbox/relay-options';
import { type ReplayOptions, replay } from '../../../../lib/core/outbox/replay';
import { type RecordSink, Streams } from '../../../../lib/core/outbox/streams';
import { VirtualClock } from '../../../../lib/testing';
import { fakeStatements } from '../../../support/postgres/outbox-statements';

/** When a replay begins, five rows were sent; two more are, while it goes on. */
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
const takesAll: PutAll = async () => ({ delivered: 0, rejected: 0 });

/** Replays that outbox, two rows at a time. It says how many were replayed, and the numbers of each batch. */
async function replayed(options: ReplayOptions, putAll = takesAll): Promise<{ count: number; batches: number[][] }> {
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

describe.each(['sent', 'new'] as const)('rows as %s', (as) => {
  test.each<[string, ReplayOptions, number, number[][]]>([
    ['all that were sent when it began', {}, 5, [[1, 2], [3, 4], [5], []]],
    ['those from a number on', { firstId: 2n }, 4, [[2, 3], [4, 5], []]],
    ['those up to a number', { lastId: 3n }, 3, [[1, 2], [3], []]],
    ['no more than there were when it began', { firstId: 4n, lastId: 7n }, 2, [[4, 5], []]],
    ['none, where there are none', { firstId: 6n }, 0, [[]]],
  ])('are %s', async (_, options, count, batches) => {
    const putAll = jest.fn(takesAll);
    expect(await replayed({ ...options, as }, putAll)).toEqual({ count, batches });
    // Rows that are put anew go to the outbox.
    expect(putAll).toHaveBeenCalledTimes(as === 'new' ? 0 : batches.length - 1);
  });

  test('are none behind a signal', async () => {
    expect(await replayed({ as, signal: AbortSignal.abort() })).toEqual({ count: 0, batches: [] });
  });
});

test('a replay that is told to end does so behind a batch', async () => {
  const abort = new AbortController();
  const putAll: PutAll = async (rows) => {
    abort.abort();
    return takesAll(rows);
  };
  expect(await replayed({ signal: abort.signal }, putAll)).toEqual({ count: 2, batches: [[1, 2]] });
});

test('a replay ends with the first number that the stream may not have', async () => {
  const error = new Error('too large');
  let puts = 0;
  const putAll: PutAll = async (rows) => {
    puts += 1;
    return puts === 1 ? takesAll(rows) : { delivered: 1, rejected: 1, firstRejection: { index: 0, error } };
  };
  await expect(replayed({}, putAll)).rejects.toMatchObject({ code: 'OUTBOX_REPLAY', firstId: 3n, cause: error });
});

test.each<[string, unknown]>([
  ['as', 'old'],
  ['sentFrom', 0],
  ['sentBefore', '2026-11-24'],
  ['firstId', 1],
])('refuses a wrong %s: %p', async (field, value) => {
  await expect(replayed({ [field]: value })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', field });
});

test('takes times', async () => {
  expect(await replayed({ sentFrom: new Date(0), sentBefore: new Date(1) })).toMatchObject({ count: 5 });
});
