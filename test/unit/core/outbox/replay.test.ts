import { Connection } from '../../../../lib/core/outbox/connection';
import { OUTBOX_SCHEMA_VERSION } from '../../../../lib/core/outbox/outbox-schema';
import { Patience } from '../../../../lib/core/outbox/patience';
import type { PostgresClient, PostgresQuery } from '../../../../lib/core/outbox/postgres-client';
import { relaySettings } from '../../../../lib/core/outbox/relay-options';
import { type ReplayOptions, replay } from '../../../../lib/core/outbox/replay';
import { type RecordSink, Streams } from '../../../../lib/core/outbox/streams';
import { VirtualClock } from '../../../../lib/testing';

/** When a replay begins, five rows were sent; two more are, while it goes on. */
const LAST_AT_FIRST = 5;
const SENT = [1, 2, 3, 4, 5, 6, 7];

type PutAll = RecordSink['putAll'];
const takesAll: PutAll = async () => ({ delivered: 0, rejected: 0 });

/** Replays that outbox, two rows at a time. It says how many were replayed, and the numbers of each window. */
async function replayed(options: ReplayOptions, putAll = takesAll): Promise<{ count: number; windows: number[][] }> {
  const windows: number[][] = [];
  const windowOf = ([afterId, lastId]: unknown[]): number[] => {
    const window = SENT.filter((id) => id > Number(afterId) && id <= Number(lastId)).slice(0, 2);
    windows.push(window);
    return window;
  };
  const answers: [begins: string, rows: (values: unknown[]) => object[]][] = [
    ['SELECT to_regclass', () => [{ there: true }]],
    ['SELECT version', () => [{ version: OUTBOX_SCHEMA_VERSION }]],
    ['SELECT producer_id', () => [{ producer_id: 'p', last_value: `${LAST_AT_FIRST}` }]],
    [
      'SELECT id',
      (values) =>
        windowOf(values).map((id) => ({ id, partition_key: 'k', data: new Uint8Array(), explicit_hash_key: null })),
    ],
    [
      'SELECT last_id',
      (values) => {
        const window = windowOf(values);
        return window.length === 0 ? [] : [{ rows: window.length, last_id: window.at(-1) }];
      },
    ],
  ];
  const query = async ({ text: given, values = [] }: PostgresQuery) => {
    const text = given.replaceAll('pg_catalog.', '');
    const rows = answers.find(([begins]) => text.startsWith(begins))?.[1](values) ?? [];
    return { rows, rowCount: rows.length };
  };
  const clock = new VirtualClock();
  const connection = new Connection({ query } as unknown as PostgresClient, new Patience(clock, 1_000));
  const count = await replay(connection, relaySettings({ windowRows: 2, clock }), new Streams({ putAll }), options);
  return { count, windows };
}

describe.each(['sent', 'new'] as const)('rows as %s', (as) => {
  test.each<[string, ReplayOptions, number, number[][]]>([
    ['all that were sent when it began', {}, 5, [[1, 2], [3, 4], [5], []]],
    ['those from a number on', { firstId: 2n }, 4, [[2, 3], [4, 5], []]],
    ['those up to a number', { lastId: 3n }, 3, [[1, 2], [3], []]],
    ['no more than there were when it began', { firstId: 4n, lastId: 7n }, 2, [[4, 5], []]],
    ['none, where there are none', { firstId: 6n }, 0, [[]]],
  ])('are %s', async (_, options, count, windows) => {
    const putAll = jest.fn(takesAll);
    expect(await replayed({ ...options, as }, putAll)).toEqual({ count, windows });
    // Rows that are put anew go to the outbox.
    expect(putAll).toHaveBeenCalledTimes(as === 'new' ? 0 : windows.length - 1);
  });

  test('are none behind a signal', async () => {
    expect(await replayed({ as, signal: AbortSignal.abort() })).toEqual({ count: 0, windows: [] });
  });
});

test('a replay that is told to end does so behind a window', async () => {
  const abort = new AbortController();
  const putAll: PutAll = async (rows) => {
    abort.abort();
    return takesAll(rows);
  };
  expect(await replayed({ signal: abort.signal }, putAll)).toEqual({ count: 2, windows: [[1, 2]] });
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
  ['sentFrom', new Date('never')],
  ['sentBefore', '2026-11-24'],
  ['firstId', 1],
  ['lastId', '1'],
])('refuses a wrong %s: %p', async (field, value) => {
  await expect(replayed({ [field]: value })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', field });
});

test('takes times', async () => {
  expect(await replayed({ sentFrom: new Date(0), sentBefore: new Date(1) })).toMatchObject({ count: 5 });
});
