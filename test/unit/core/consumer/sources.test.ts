import { MemoryParkingStore, OrderedConsumer, type ShardRecord, type StreamEvent } from '../../../../lib/core/consumer';
import { AggregateBuilder } from '../../../../lib/core/producer/aggregate-builder';
import { fenceData } from '../../../../lib/core/stream-format/fence';
import { kinesisEvent, shardOf, textOf } from '../../../support/fakes/stream-events';

beforeEach(() => {
  jest.spyOn(console, 'log').mockImplementation(() => {});
});
afterEach(() => jest.restoreAllMocks());

const streamArn = (name: string) => `arn:aws:kinesis:us-east-1:111122223333:stream/${name}`;
const tableArn = (name: string, label = '2026-01-01T00:00:00.000') =>
  `arn:aws:dynamodb:us-east-1:111122223333:table/${name}/stream/${label}`;

/**
 * A change of the item x in a table stream. The event contains no shard, because Lambda does not send the shard of a
 * table stream.
 */
function change(source: string, number: number, text: string): StreamEvent {
  const Keys = { id: { S: 'x' } };
  const dynamodb = { Keys, NewImage: { ...Keys, text: { S: text } }, SequenceNumber: String(number) };
  return { Records: [{ eventSource: 'aws:dynamodb', eventName: 'MODIFY', eventSourceARN: source, dynamodb }] };
}

/** A record of the key a. */
const recordOf = (number: number, text: string): ShardRecord => ({
  ...shardOf(['a'], { from: number })[0]!,
  data: Buffer.from(text),
});
const put = (source: string, number: number, text: string) => kinesisEvent([recordOf(number, text)], source);

/** A record of the key a from an outbox, with the number of its row. */
function row(source: string, shardNumber: number, number: number, text: string): StreamEvent {
  const aggregate = new AggregateBuilder({ maxBytes: 1_000 });
  const sequence = { producerId: 'outbox', sequenceNumber: BigInt(number) };
  aggregate.tryAdd({ partitionKey: 'a', data: Buffer.from(text), sequence });
  return kinesisEvent([{ ...recordOf(shardNumber, text), data: Buffer.from(aggregate.build().data) }], source);
}

function world(parking = new MemoryParkingStore()) {
  const [effects, poison]: [string[], Set<string>] = [[], new Set()];
  const positions: { series: string; number: string }[] = [];
  jest.spyOn(parking, 'onceItem').mockImplementation(((_: string, position: { series: string; number: string }) => {
    positions.push(position);
    return {};
  }) as never);
  const consumer = new OrderedConsumer(
    (record, { once }) => {
      const raw = textOf(record);
      const text = raw.startsWith('{') ? JSON.parse(raw).dynamodb.NewImage.text.S : raw;
      once([]);
      if (poison.has(text)) throw new Error('poison');
      effects.push(text);
    },
    { parking, attempts: 2, retryMs: 1 },
  );
  const deliver = (event: StreamEvent) => consumer.handler(event, { getRemainingTimeInMillis: () => 60_000 });
  return { consumer, effects, poison, parking, positions, deliver };
}

const TWO_SOURCES: [
  string,
  (number: number, text: string) => StreamEvent,
  (number: number, text: string) => StreamEvent,
][] = [
  ['two streams', (n, text) => put(streamArn('New'), n, text), (n, text) => put(streamArn('Old'), n, text)],
  ['two tables', (n, text) => change(tableArn('New'), n, text), (n, text) => change(tableArn('Old'), n, text)],
  [
    "a table's stream that was disabled and enabled again",
    (n, text) => change(tableArn('T'), n, text),
    (n, text) => change(tableArn('T', '2026-02-02T00:00:00.000'), n, text),
  ],
  [
    'streams of one name in two regions',
    (n, text) => put(streamArn('S'), n, text),
    (n, text) => put(streamArn('S').replace('us-east-1', 'eu-west-1'), n, text),
  ],
  [
    'two streams of one outbox',
    (n, text) => row(streamArn('New'), n, n, text),
    (n, text) => row(streamArn('Old'), n + 1_000, n, text),
  ],
];

describe.each(TWO_SOURCES)('a consumer of %s', (_, young, old) => {
  test('also processes every record of the source with the lower sequence numbers, and processes each record once', async () => {
    const { deliver, effects, positions } = world();
    for (let turn = 0; turn < 2; turn++) {
      for (const event of [
        young(900, 'young 900'),
        old(100, 'old 100'),
        young(901, 'young 901'),
        old(101, 'old 101'),
      ]) {
        expect(await deliver(event)).toEqual({ batchItemFailures: [] });
      }
    }
    expect(effects).toEqual(['young 900', 'old 100', 'young 901', 'old 101']);
    // Each source has its own sequence of numbers for `once`.
    expect(new Set(positions.map(({ series }) => series)).size).toBe(2);
  });
});

describe('a consumer drops duplicates within one source', () => {
  const fanOut = `${streamArn('S')}/consumer/C:1790000000`;
  const unnamed: StreamEvent = {
    Records: put('', 1, 'a1').Records.map((each) => ({ ...each, eventSourceARN: undefined })),
  };
  test.each([
    ['a stream that is read with enhanced fan-out, and by polling', put(streamArn('S'), 1, 'a1'), put(fanOut, 1, 'a1')],
    ['two registered consumers of a stream', put(fanOut, 1, 'a1'), put(`${streamArn('S')}/consumer/D:1`, 1, 'a1')],
    ['every event without a source', unnamed, unnamed],
  ])('for %s', async (_, first, second) => {
    const { deliver, effects } = world();
    await deliver(first as StreamEvent);
    await deliver(second as StreamEvent);
    expect(effects).toEqual(['a1']);
  });

  test('for a function and a process that read the same stream', async () => {
    const { deliver, consumer, effects } = world();
    await deliver(put(streamArn('S'), 1, 'a1'));
    await consumer.process([recordOf(1, 'a1')], { source: fanOut });
    await consumer.process([recordOf(1, 'another')], { source: streamArn('Other') });
    expect(effects).toEqual(['a1', 'another']);
  });
});

test('a consumer of a copied stream waits for the end of a move in the shards of that stream', async () => {
  const w = world();
  const fence = (side: 'start' | 'end') => ({ ...recordOf(5, ''), data: fenceData({ moveId: 'm', side }) });
  await w.deliver(kinesisEvent([fence('end')], streamArn('Original')));
  const time = new AbortController();
  const batch = [fence('start'), recordOf(6, 'behind')];
  const waiting = w.consumer.process(batch, { source: streamArn('Copy'), signal: time.signal });
  setTimeout(() => time.abort(), 20);
  expect(await waiting).toMatchObject({ comesAgain: batch[0], problems: [{ code: 'MOVE_IN_PROGRESS' }] });
  await w.deliver(kinesisEvent([fence('end')], streamArn('Copy')));
  expect(await w.consumer.process(batch, { source: streamArn('Copy') })).toEqual({ problems: [] });
  expect(w.effects).toEqual(['behind']);
});

describe('OrderedConsumer.process', () => {
  test.each([
    ['source', undefined],
    ['source', { source: 'x'.repeat(2_049) }],
  ])('rejects a missing or wrong %s', async (field, options) => {
    const { consumer, effects } = world();
    await expect(consumer.process([recordOf(1, 'a1')], options as never)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      field,
    });
    expect(effects).toEqual([]);
  });

  test.each([
    ['records[1].sequenceNumber', { sequenceNumber: 2 }],
    ['records[1].shardId', { shardId: undefined }],
    ['records[1].partitionKey', { partitionKey: null }],
  ])('rejects a record with a wrong %s and processes nothing', async (field, damage) => {
    const { consumer, effects } = world();
    const records = [recordOf(1, 'a1'), { ...recordOf(2, 'a2'), ...damage } as never];
    await expect(consumer.process(records, { source: 's' })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', field });
    expect(effects).toEqual([]);
  });
});
