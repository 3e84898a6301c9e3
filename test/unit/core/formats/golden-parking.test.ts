import { createHash } from 'node:crypto';
import { DynamoDbParkingStore, OrderedConsumer, type ParkedKey, type ParkingItem } from '../../../../lib/core/consumer';
import { allOf } from '../../../support/all-of';
import { ParkingTable } from '../../../support/fakes/parking-table';
import { goldenValues } from '../../../support/golden/golden-values';

interface Delivered {
  shardId: string;
  partitionKey: string;
  sequenceNumber: string;
  data: Buffer;
}

function storeOf(items: readonly ParkingItem[]) {
  const table = new ParkingTable();
  for (const item of items) table.put(structuredClone(item));
  const client = table.client();
  const store = new DynamoDbParkingStore(client, { tableName: 'Parked', consumer: 'orders' });
  const keys = () => table.all.filter(({ id }) => JSON.parse(id.S)[1] === 'keys');
  return { table, client, store, keys };
}

/** A short text for bytes, because Jest compares large buffers slowly. */
const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

const LATER = () => Date.parse('2027-01-01T00:00:00Z');

/** Replays the parked keys, and returns the digests of the data that the handler gets. */
async function replayed(store: DynamoDbParkingStore): Promise<string[]> {
  const handled: string[] = [];
  const handle = ({ data }: { data: Uint8Array }) => void handled.push(digest(data));
  await new OrderedConsumer(handle, { parking: store, metrics: false, timeOfDay: LATER } as never).retryParked();
  return handled;
}

async function onlyKey(store: DynamoDbParkingStore): Promise<ParkedKey> {
  const keys = await allOf(store.keys());
  expect(keys).toHaveLength(1);
  return keys[0]!;
}

describe('golden parked records', () => {
  interface Golden {
    partitionKey: string;
    records: number;
    delivered: Delivered[];
    source: string;
    table: ParkingItem[];
  }
  const all = goldenValues<Golden>('parked-records');

  test.each(all)(
    '%s – the key is found, its records are replayed in order, and the table is empty',
    async (name, golden) => {
      const { partitionKey, records, delivered, table } = golden;
      const { store, table: stored } = storeOf(table);
      expect([...(await store.find([partitionKey, 'other'])).keys()]).toEqual([partitionKey]);
      const isCorrupt = name.includes('corrupt');
      const read = await allOf(store.records(await onlyKey(store)));
      expect(read).toHaveLength(records);
      if (delivered.length === records)
        expect(read.map(({ data }) => digest(data))).toEqual(delivered.map(({ data }) => digest(data)));
      expect(read.some((record) => record.isCorrupt)).toBe(isCorrupt);
      if (isCorrupt) return;
      expect(await replayed(store)).toEqual(read.map(({ data }) => digest(data)));
      expect(stored.all.filter(({ id }) => ['keys', 'rows'].includes(JSON.parse(id.S)[1]))).toEqual([]);
    },
  );

  test.each(all)('%s – the consumer recognises records that are delivered again', async (_, golden) => {
    const { delivered, source, table } = golden;
    const { store } = storeOf(table);
    const { next } = await onlyKey(store);
    const handled: unknown[] = [];
    const consumer = new OrderedConsumer((record) => void handled.push(record), {
      parking: store,
      metrics: false,
    } as never);
    await consumer.process(delivered, { source });
    expect({ next: (await onlyKey(store)).next, handled }).toEqual({ next, handled: [] });
  });
});

describe('golden parked keys', () => {
  const all = goldenValues<{ partitionKey: string; table: ParkingItem[] }>('parked-key');
  const STATES: Record<string, object> = {
    'after its first failure': { first: 0, next: 2, tries: 3, retries: 0, dead: false },
    'after a replay that failed': {
      first: 0,
      tries: 4,
      retries: 1,
      dead: false,
      lastError: 'TypeError: the handler fails',
    },
    'with the lease of a replay': { first: 0, lease: { holder: expect.any(String), until: expect.any(Number) } },
    'after a replay that handled its first record': {
      first: 1,
      next: 2,
      retries: 1,
      lastError: 'Error: the second record fails',
    },
    dead: { first: 1, next: 2, dead: true },
  };

  test.each(all)('%s – has the state that was stored', async (name, { partitionKey, table }) => {
    const { store } = storeOf(table);
    expect(await onlyKey(store)).toMatchObject({ partitionKey, ...STATES[name.split(', ')[1]!] });
  });

  test.each(all)('%s – a write keeps fields and attributes of a later release', async (_, { partitionKey, table }) => {
    const { store, keys } = storeOf(
      table.map((item) => {
        if (item.state === undefined) return item;
        return {
          ...item,
          color: { S: 'red' },
          state: { S: JSON.stringify({ ...JSON.parse(item.state.S), cause: 'x' }) },
        };
      }),
    );
    await store.resume(partitionKey);
    expect(keys()).toMatchObject([{ color: { S: 'red' } }]);
    expect(JSON.parse(keys()[0]!.state.S)).toMatchObject({ cause: 'x', dead: false });
    expect(JSON.parse(keys()[0]!.state.S)).not.toHaveProperty('color');
  });

  test.each(all)('%s – can be resumed, skipped and dropped', async (_, { partitionKey, table }) => {
    for (const action of ['resume', 'skip', 'drop'] as const) {
      const { store } = storeOf(table);
      expect(await store[action](partitionKey)).toBe(true);
    }
  });
});

describe('golden parking marks', () => {
  const all = goldenValues<{ partitionKey: string; marks: ParkingItem[]; keys: ParkingItem[] }>('parking-marks');

  test.each(all)(
    '%s – the consumer looks up the keys of the marked parts only',
    async (_, { partitionKey, marks, keys }) => {
      const { store, client } = storeOf([...marks, ...keys]);
      const looks = jest.spyOn(client, 'getItem');
      const found = await store.find([partitionKey]);
      expect({ found: found.size, looks: looks.mock.calls.length }).toEqual({ found: keys.length, looks: 2 });
    },
  );

  test.each(all)('%s – a mark without a key is removed, unless a process is parking', async (name, { marks }) => {
    const { store, table } = storeOf(marks);
    for await (const _ of store.keys());
    const left = table.all.flatMap((item) => Object.keys(item)).filter((attribute) => /^p\d/.test(attribute));
    const isAtWork = name.includes('crashed') && Date.now() < Date.parse('2026-12-01T18:00:00Z');
    expect(left).toHaveLength(isAtWork ? 1 : 0);
  });
});

test.each(goldenValues<{ move: never; progress: object; table: ParkingItem[] }>('move'))(
  'golden move %s – has the progress that was stored',
  async (_, { move, progress, table }) => {
    expect(await storeOf(table).store.waitForMove(move, 0)).toEqual(progress);
  },
);

describe('golden items and rows of once', () => {
  interface Golden {
    partitionKey: string;
    delivered?: Delivered[];
    source: string;
    position?: { series: string; number: string };
    items: ParkingItem[];
    rows: { statement: string; values: string[] }[];
  }
  const all = goldenValues<Golden>('once');

  test.each(all.filter(([, { delivered }]) => delivered))(
    '%s – a transaction in DynamoDB fails, because the record has taken effect',
    async (_, { delivered, source, items }) => {
      const { store, client } = storeOf(items);
      const outcomes: string[] = [];
      const handle = async (_record: object, { once }: { once: (items: object[]) => object[] }) => {
        const effect = {
          Put: { TableName: 'Parked', Item: { id: { S: 'effect' }, part: { S: `${outcomes.length}` } } },
        };
        await client.transactWriteItems({ TransactItems: once([effect]) as never }).then(
          () => outcomes.push('applied'),
          (error) => {
            outcomes.push(error.name);
            // DynamoDB returns the stored item with the reason.
            error.CancellationReasons[0].Item = items[0];
            throw error;
          },
        );
      };
      await new OrderedConsumer(handle as never, { parking: store, metrics: false } as never).process(delivered!, {
        source,
      });
      // The stored number is the number of the latest record, so the transactions of all records fail.
      expect(new Set(outcomes)).toEqual(new Set(['TransactionCanceledException']));
      expect(await store.find([delivered![0]!.partitionKey])).toEqual(new Map());
    },
  );

  test.each(all.filter(([, { rows }]) => rows))(
    '%s – the row in Postgres has the same key and number',
    async (_, golden) => {
      const { delivered, source, rows } = golden;
      const { store } = storeOf([]);
      const values: unknown[] = [];
      const query = async (_statement: string, given: unknown[]) => {
        values.push(given);
        return { rowCount: 1 };
      };
      const handle = (_record: object, { once }: { once: { postgres(client: object): Promise<void> } }) =>
        once.postgres({ query });
      await new OrderedConsumer(handle as never, { parking: store, metrics: false } as never).process(delivered!, {
        source,
      });
      expect(values).toEqual(rows.map((row) => row.values));
    },
  );

  test.each(all.filter(([, { position }]) => position))(
    '%s – the handled position is recognised',
    async (_, golden) => {
      const { partitionKey, position, items } = golden;
      const { store, table } = storeOf(items);
      const before = structuredClone(table.all);
      await store.markHandled(partitionKey, position!);
      expect(table.all).toEqual(before);
    },
  );
});
