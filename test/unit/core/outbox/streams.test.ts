import type { OutboxRow } from '../../../../lib/core/outbox/outbox-row';
import { type RecordSink, Streams } from '../../../../lib/core/outbox/streams';

const sink = (skipRejected = false): RecordSink => ({
  skipRejected,
  putAll: async () => ({ delivered: 0, rejected: 0 }),
});
const rowOf = (id: bigint, topic?: string) => ({ id, partitionKey: 'key', topic }) as OutboxRow;

test.each([
  [undefined, 'no topic'],
  ['a secret', 'another topic'],
])(
  'rows whose topic has no producer are rejected one by one, and the error contains no data of the row: %s',
  async (topic, what) => {
    const rows = [rowOf(1n, topic), rowOf(2n, topic)];
    const [[stream, own]] = new Streams({ a: sink() }).divide(rows) as [[RecordSink, OutboxRow[]]];
    const rejected: unknown[] = [];
    const observer = { rejected: (...rejection: unknown[]) => void rejected.push(rejection) };
    expect(await stream.putAll(own, observer)).toEqual({ delivered: 0, rejected: 2 });
    const error = expect.objectContaining({ code: 'OUTBOX_TOPIC', message: expect.stringMatching(`got ${what};`) });
    expect(rejected).toEqual([
      [0, rows[0], error],
      [1, rows[1], error],
    ]);
    const [[, , first]] = rejected as [[number, OutboxRow, Error]];
    expect(JSON.stringify([first, Object.getOwnPropertyDescriptors(first)])).not.toContain('secret');
  },
);

test('rows of several topics are divided by stream, and keep their order', () => {
  const [a, b] = [sink(), sink()];
  const rows = ['a', 'b', 'b', 'a', 'a'].map((topic, index) => rowOf(BigInt(index), topic));
  expect(new Streams({ a, b }).divide(rows)).toEqual([
    [a, [0, 3, 4].map((index) => rows[index])],
    [b, [1, 2].map((index) => rows[index])],
  ]);
});

const shared = sink();
test.each<[string, string, RecordSink | Record<string, RecordSink>]>([
  ['an empty set of producers', 'producer', {}],
  ['a producer with skipRejected', 'producer.skipRejected', sink(true)],
  ['a producer of a topic with skipRejected', 'producer.a.skipRejected', { a: sink(true) }],
  ['one producer for two topics', 'producer', { a: shared, b: shared }],
])('Streams rejects %s', (_, field, producers) => {
  const invalidArgument = expect.objectContaining({ code: 'INVALID_ARGUMENT', field });
  expect(() => new Streams(producers)).toThrow(invalidArgument);
});
