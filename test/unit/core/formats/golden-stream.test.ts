import {
  deaggregate,
  MemoryParkingStore,
  OrderedConsumer,
  parseFence,
  type UserRecord,
} from '../../../../lib/core/consumer';
import { DEPLOYMENT_TAG, parseDeploymentMark } from '../../../../lib/core/resharding/deployment-mark';
import { parseUpdateHistory, UPDATE_HISTORY_TAG } from '../../../../lib/core/resharding/update-history';
import { goldenValues } from '../../../support/golden/golden-values';

interface Sent {
  shardId: string;
  partitionKey: string;
  sequenceNumber: string;
  data: Buffer;
  explicitHashKey?: string;
}
interface Golden {
  records: { partitionKey: string; data: Buffer; explicitHashKey?: bigint }[];
  sent: Sent[];
}

/** User records by key, because records of different keys may be in any order. */
function byKey(records: readonly Pick<UserRecord, 'partitionKey' | 'data'>[]) {
  const keys = [...new Set(records.map(({ partitionKey }) => partitionKey))].sort();
  const of = (key: string) => records.filter(({ partitionKey }) => partitionKey === key);
  return keys.map((key) => [key, of(key).map(({ data }) => Buffer.from(data).toString())]);
}

/** A consumer that gives the same records new sequence numbers in the stream, as a producer does that sends them again. */
async function handledOf(sent: readonly Sent[]): Promise<string[]> {
  const handled: string[] = [];
  const consumer = new OrderedConsumer(
    ({ data }) => {
      handled.push(Buffer.from(data).toString());
      throw new Error('the record is parked');
    },
    { parking: new MemoryParkingStore(), metrics: false, attempts: 2 } as never,
  );
  await consumer.process(sent, { source: 'stream' });
  await consumer.process(
    sent.map((record, n) => ({ ...record, sequenceNumber: `${9_000 + n}` })),
    { source: 'stream' },
  );
  return handled;
}

const aggregates = goldenValues<Golden>('aggregate');
const sequences = goldenValues<Golden>('record-sequence');

test.each([...aggregates, ...sequences])('golden records %s – have the same keys and data', (_, { records, sent }) => {
  const read = sent.flatMap((record) => deaggregate(record));
  expect(byKey(read)).toEqual(byKey(records));
  for (const { partitionKey, explicitHashKey } of records) {
    if (explicitHashKey === undefined) continue;
    expect(read.find((record) => record.partitionKey === partitionKey)).toMatchObject({ explicitHashKey });
  }
});

test.each(sequences)(
  'golden record sequence %s – the records of a key have ascending numbers of one producer',
  (_, { sent }) => {
    const read = sent.flatMap((record) => deaggregate(record));
    expect(new Set(read.map(({ sequence }) => sequence?.producerId)).size).toBe(1);
    for (const key of new Set(read.map(({ partitionKey }) => partitionKey))) {
      const numbers = read
        .filter(({ partitionKey }) => partitionKey === key)
        .map(({ sequence }) => sequence!.sequenceNumber);
      expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => Number(a - b)));
    }
  },
);

test.each(sequences)(
  'golden record sequence %s – a consumer does not park a record a second time',
  async (_, { records, sent }) => {
    const parking = new MemoryParkingStore();
    const fail = () => {
      throw new Error('the record is parked');
    };
    const consumer = new OrderedConsumer(fail, { parking, metrics: false, attempts: 2 } as never);
    await consumer.process(sent, { source: 'stream' });
    await consumer.process(
      sent.map((record, n) => ({ ...record, sequenceNumber: `${9_000 + n}` })),
      { source: 'stream' },
    );
    let waiting = 0;
    for await (const key of parking.parked()) waiting += key.records;
    expect(waiting).toBe(records.length);
  },
);

test.each(goldenValues<{ partitionKey: string; sent: Sent[] }>('fence'))(
  'golden fence %s – is recognised on both sides, and does not reach the handler',
  async (_, { partitionKey, sent }) => {
    const read = sent.flatMap((record) => deaggregate(record));
    const fences = read.map(({ data }) => parseFence(data));
    expect(fences.map((fence) => fence?.side)).toEqual(['end', 'start']);
    expect(new Set(fences.map((fence) => fence?.moveId)).size).toBe(1);
    expect(read.every((record) => record.partitionKey === partitionKey)).toBe(true);
    expect(await handledOf(sent)).toEqual([]);
  },
);

test.each(goldenValues<{ tag: string; tags: string[]; now: number; mark: object }>('deployment-mark'))(
  'golden deployment mark %s – has the same time and shard count',
  (_, { tag, tags, now, mark }) => {
    expect(tags).toContain(DEPLOYMENT_TAG);
    expect(parseDeploymentMark(tag, now)).toEqual(mark);
  },
);

test.each(goldenValues<{ tag: string; tags: string[]; now: number; history: object[] }>('update-history'))(
  'golden update history %s – has the same updates',
  (_, { tag, tags, now, history }) => {
    expect(tags).toContain(UPDATE_HISTORY_TAG);
    expect(parseUpdateHistory(tag, now)).toEqual(history);
  },
);
