import {
  MemoryParkingStore,
  OrderedConsumer,
  type ParkedKey,
  type ParkedRecord,
  type ShardRecord,
} from '../../../../lib/core/consumer';
import { AggregateBuilder } from '../../../../lib/core/producer/aggregate-builder';
import { fenceData } from '../../../../lib/core/stream-format/fence';
import { SOURCE, shardOf, textOf } from '../../../support/fakes/stream-events';

/** The prefix of a format that only a later version of the library can read. */
const NEWER_FORMAT = Buffer.from('f3899ac2', 'hex');

interface Packed {
  text: string;
  number?: number;
  data?: Uint8Array;
}

/** A Kinesis record with records of several keys, "b1" with the key "b". */
function packOf(packed: readonly Packed[], { partitionKey = 'p', sequenceNumber = '7' } = {}): ShardRecord {
  const pack = new AggregateBuilder({ maxBytes: 100_000, groupName: partitionKey });
  for (const { text, number, data = Buffer.from(text) } of packed) {
    const sequence = number === undefined ? undefined : { producerId: 'producer', sequenceNumber: BigInt(number) };
    pack.tryAdd({ partitionKey: text[0]!, data, ...(sequence && { sequence }) });
  }
  return { ...shardOf(['x'])[0]!, partitionKey, sequenceNumber, data: Buffer.from(pack.build().data) };
}

class World {
  readonly effects: string[] = [];
  readonly calls: string[] = [];
  readonly poison = new Set<string>();
  isNewer = false;
  readonly parking = new MemoryParkingStore();
  private readonly done = new Map<string, string>();
  private readonly readable = new Map<string, Uint8Array>();

  constructor(private readonly options: { slow?: number } = {}) {
    const { parking } = this;
    const records = parking.records.bind(parking);
    const read = (record: ParkedRecord) => (this.isNewer && this.readable.get(hexOf(record.data))) || record.data;
    parking.records = async function* (key: ParkedKey) {
      for await (const record of records(key)) yield { ...record, data: read(record) };
    };
  }

  /** A consumer in a new process. The consumer can read the newer format if `isNewer` is true. */
  process(): OrderedConsumer {
    return new OrderedConsumer(
      async (record, { positions }) => {
        const text = textOf(record);
        this.calls.push(text);
        if (this.options.slow) await new Promise((resolve) => setTimeout(resolve, this.options.slow));
        if (this.poison.has(text)) throw new Error('poison');
        const [position] = positions;
        if (position!.number <= (this.done.get(position!.series) ?? '')) return;
        this.done.set(position!.series, position!.number);
        this.effects.push(text);
      },
      { parking: this.parking, attempts: 2, retryMs: 1, attemptTimeoutMs: 100 },
    );
  }

  async arrive(record: ShardRecord, consumer = this.process()): Promise<void> {
    const data = Buffer.concat([NEWER_FORMAT, Buffer.alloc(30), Buffer.from(record.sequenceNumber)]);
    this.readable.set(hexOf(data), record.data);
    expect(await consumer.process([{ ...record, data }], { source: SOURCE })).toEqual({ problems: [] });
  }

  async retry(consumer = this.process()): Promise<unknown> {
    await new Promise((resolve) => setTimeout(resolve, 10));
    return consumer.retryParked();
  }
}

const hexOf = (data: Uint8Array) => Buffer.from(data).toString('hex');

const WITHOUT_SEQUENCE: Packed[] = [{ text: 'a0' }, { text: 'b1' }, { text: 'a2' }];
/** Records of several keys in one aggregate. The sequence numbers increase within each key, but not over all records. */
const WITH_SEQUENCE: Packed[] = [
  { text: 'a0', number: 10 },
  { text: 'b1', number: 3 },
  { text: 'a2', number: 11 },
];

describe.each([
  ['without a sequence', WITHOUT_SEQUENCE],
  ['with a sequence', WITH_SEQUENCE],
])('a corrupt aggregate %s', (_, packed) => {
  test('stays parked, until a newer version of the consumer can read the aggregate and processes each of its records once and in order, even if a record fails', async () => {
    const w = new World();
    await w.arrive(packOf(packed));
    expect(await w.retry()).toMatchObject({ stillParked: 1 });
    expect(w.effects).toEqual([]);
    w.isNewer = true;
    w.poison.add('b1');
    expect(await w.retry()).toMatchObject({ stillParked: 1 });
    expect(w.effects).toEqual(['a0']);
    w.poison.clear();
    expect(await w.retry()).toMatchObject({ keys: 1, stillParked: 0 });
    expect(w.effects).toEqual(['a0', 'b1', 'a2']);
  });
});

test('a duplicate of a corrupt aggregate, sent by a retry of the producer, is not processed again', async () => {
  const w = new World();
  await w.arrive(packOf(WITH_SEQUENCE));
  await w.arrive(packOf(WITH_SEQUENCE, { sequenceNumber: '9' }));
  w.isNewer = true;
  expect(await w.retry()).toMatchObject({ keys: 1, records: 2, stillParked: 0 });
  expect(w.effects).toEqual(['a0', 'b1', 'a2']);
});

test('after the time limit of an attempt, the handler receives no other record of the aggregate', async () => {
  const w = new World({ slow: 60 });
  await w.arrive(packOf(Array.from({ length: 5 }, (_, index) => ({ text: `a${index}` }))));
  w.isNewer = true;
  expect(await w.retry()).toMatchObject({ stillParked: 1 });
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(w.calls).toEqual(['a0', 'a1']);
});

test('a fence in a corrupt aggregate ends its move and does not reach the handler', async () => {
  const w = new World();
  const end = jest.spyOn(w.parking, 'endMove');
  const fences = (['start', 'end'] as const).map((side) => ({
    text: 'a',
    number: side === 'start' ? 1 : 3,
    data: fenceData({ moveId: `m ${side}`, side }),
  }));
  await w.arrive(packOf([fences[0]!, { text: 'a1', number: 2 }, fences[1]!]));
  w.isNewer = true;
  expect(await w.retry()).toMatchObject({ keys: 1, stillParked: 0 });
  expect(w.effects).toEqual(['a1']);
  expect(end.mock.calls).toEqual([[{ moveId: expect.stringMatching(/m end$/), partitionKey: 'a' }]]);
});
