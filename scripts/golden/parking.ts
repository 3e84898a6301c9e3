import {
  DynamoDbParkingStore,
  ONCE_POSTGRES_TABLE,
  OrderedConsumer,
  type ParkingItem,
  type ParkingTableClient,
  type RecordContext,
} from 'cdk-even-shards/consumer';
import { PARKING_METHODS, ParkingTable } from '../../test/support/fakes/parking-table';
import { aggregateOf } from './stream-records';
import type { Written } from './written';

const OPTIONS = { tableName: 'Parked', consumer: 'orders' };
const SOURCE = 'arn:aws:kinesis:eu-west-1:111111111111:stream/events';

const text = (data: string) => Buffer.from(data);
/** Bytes that begin like an aggregate and end with a wrong digest. */
const corrupt = Buffer.concat([Uint8Array.of(0xf3, 0x89, 0x9a, 0xc2), text('not an aggregate'), Buffer.alloc(16)]);

/** Records of the keys that are parked: by the name of the golden value. */
const KEYS: Record<string, { partitionKey: string; records: Uint8Array[] }> = {
  'small records': { partitionKey: 'small', records: ['1', '2', '3'].map(text) },
  'a large record': { partitionKey: 'large', records: [Buffer.alloc(700_000, 'large '), text('after it')] },
  'a record of several transactions': { partitionKey: 'largest', records: [Buffer.alloc(4_500_000, 'largest ')] },
  'a corrupt aggregate': { partitionKey: 'corrupt', records: [corrupt] },
  'a key with a long text': {
    partitionKey: 'key '.repeat(60).trim() + 'é'.repeat(150).slice(0, 17),
    records: [text('1')],
  },
  'an empty record': { partitionKey: 'sha256:like a hash', records: [text('')] },
};

function clientOf(table: ParkingTable, changes: Partial<ParkingTableClient> = {}): ParkingTableClient {
  const calls = PARKING_METHODS.map((method) => [
    method,
    async (input: never) => structuredClone(table[method](input)),
  ]);
  return { ...Object.fromEntries(calls), ...changes } as ParkingTableClient;
}

/** The records as a shard returns them. */
function delivered(partitionKey: string, records: readonly Uint8Array[]) {
  return records.map((data, n) => ({
    shardId: 'shardId-000000000001',
    partitionKey,
    sequenceNumber: `${100 + n}`,
    data,
  }));
}

/** A consumer whose handler fails. */
function failing(table: ParkingTable, options: object = {}, changes: Partial<ParkingTableClient> = {}) {
  const parking = new DynamoDbParkingStore(clientOf(table, changes), OPTIONS);
  const fail = () => {
    throw new TypeError('the handler fails');
  };
  return new OrderedConsumer(fail, { parking, metrics: false, retryMs: 1_000, ...options } as never);
}

const isKey = ({ id }: ParkingItem) => JSON.parse(id.S)[1] === 'keys';
const isMarks = ({ id }: ParkingItem) => JSON.parse(id.S)[1] === 'marks';

export async function parking(): Promise<Written> {
  const written: Written = { 'parking marks': {}, 'parked key': {}, 'parked records': {}, move: {}, once: {} };
  const park = async (name: string, records: object[], partitionKey: string, data: readonly Uint8Array[]) => {
    const table = new ParkingTable();
    await failing(table).process(records as never, { source: SOURCE });
    written['parked records']![name] = {
      partitionKey,
      records: data.length,
      delivered: records,
      source: SOURCE,
      table: table.all,
    };
    return table;
  };
  for (const [name, { partitionKey, records }] of Object.entries(KEYS)) {
    await park(name, delivered(partitionKey, records), partitionKey, records);
  }
  const sequenced = await aggregateOf(
    ['1', '2'].map((data) => ({ partitionKey: 'sequenced', data: text(data), explicitHashKey: 7n })),
  );
  const table = await park('sequenced records of an aggregate', sequenced, 'sequenced', ['1', '2'].map(text));

  const keys = written['parked key']!;
  const keep = (name: string, from: ParkingTable) => {
    keys[name] = { partitionKey: 'sequenced', table: structuredClone(from.all) };
  };
  keep('after its first failure', table);
  const isDue = { timeOfDay: () => Date.now() + 3_600_000 };
  await failing(table, isDue).retryParked();
  keep('after a replay that failed', table);
  let isLeased = false;
  const leased = new DynamoDbParkingStore(clientOf(table), OPTIONS);
  const handle = () => {
    if (!isLeased) keep('with the lease of a replay', table);
    isLeased = true;
  };
  await new OrderedConsumer(
    async ({ data }) => {
      handle();
      if (Buffer.from(data).toString() === '2') throw new Error('the second record fails');
    },
    { parking: leased, metrics: false, timeOfDay: () => Date.now() + 7_200_000, attempts: 2, maxTries: 2 } as never,
  ).retryParked();
  keep('after a replay that handled its first record', table);
  await failing(table, { attempts: 2, maxTries: 2, timeOfDay: () => Date.now() + 72_000_000 }).retryParked();
  keep('dead', table);

  const crashed = new ParkingTable();
  const lost = { transactWriteItems: async () => Promise.reject(new Error('the connection is lost')) };
  await failing(crashed, {}, lost)
    .process(delivered('crashed', [text('1')]), { source: SOURCE })
    .catch(() => {});
  const marksOf = (from: ParkingTable) => from.all.filter(isMarks);
  written['parking marks'] = {
    'of a parked key': { partitionKey: 'sequenced', marks: marksOf(table), keys: table.all.filter(isKey) },
    'of a process that crashed': { partitionKey: 'crashed', marks: marksOf(crashed), keys: [] },
  };

  const moves = new ParkingTable();
  const store = new DynamoDbParkingStore(clientOf(moves), OPTIONS);
  await store.waitForMove({ moveId: 'move-1', partitionKey: 'waiting' }, 1_500);
  await store.endMove({ moveId: 'move-2', partitionKey: 'ended' });
  await store.waitForMove({ moveId: 'move-3', partitionKey: 'both' }, 20);
  await store.endMove({ moveId: 'move-3', partitionKey: 'both' });
  written.move = {
    waiting: {
      move: { moveId: 'move-1', partitionKey: 'waiting' },
      progress: { hasEnded: false, waitedMs: 1_500 },
      table: moves.all,
    },
    ended: {
      move: { moveId: 'move-2', partitionKey: 'ended' },
      progress: { hasEnded: true, waitedMs: 0 },
      table: moves.all,
    },
    both: {
      move: { moveId: 'move-3', partitionKey: 'both' },
      progress: { hasEnded: true, waitedMs: 20 },
      table: moves.all,
    },
  };

  written.once = await onceWrites(sequenced);
  return written;
}

/** The items and rows with which a handler marks records as done. */
async function onceWrites(sequenced: object[]) {
  const writes: Record<string, unknown> = { 'the table in Postgres': { sql: ONCE_POSTGRES_TABLE } };
  const cases = {
    'a record of an aggregate with sequences': ['sequenced', sequenced],
    'a record without a sequence': ['plain', delivered('plain', [text('1')])],
    'a key with a long text and a NUL': [
      `long\0${'x'.repeat(600)}`,
      delivered(`long\0${'x'.repeat(600)}`, [text('1')]),
    ],
  } as const;
  for (const [name, [partitionKey, records]] of Object.entries(cases)) {
    const table = new ParkingTable();
    const client = clientOf(table);
    const rows: unknown[] = [];
    const handle = async (_: unknown, { once, attempt }: RecordContext) => {
      // The first attempt fails, because an attempt uses either DynamoDB or Postgres.
      if (attempt > 1) {
        const query = async (statement: string, values: unknown[]) => {
          // A RETURNING clause only reads, so it is not a part of the format.
          rows.push({ statement: statement.split('\nRETURNING ')[0], values });
          return { rowCount: 1 };
        };
        return once.postgres({ query });
      }
      await client.transactWriteItems({ TransactItems: once([]) as never });
      throw new Error('the response is lost');
    };
    const parking = new DynamoDbParkingStore(client, OPTIONS);
    await new OrderedConsumer(handle as never, { parking, metrics: false } as never).process(records as never, {
      source: SOURCE,
    });
    const items = table.all.filter(({ number }) => number !== undefined).map((item) => onlyStrings(item));
    writes[name] = { partitionKey, delivered: records, source: SOURCE, items, rows };
  }
  const fences = new ParkingTable();
  await new DynamoDbParkingStore(clientOf(fences), OPTIONS).markHandled('fenced', { series: 'series', number: '0001' });
  writes['a fence'] = {
    partitionKey: 'fenced',
    position: { series: 'series', number: '0001' },
    items: fences.all.map(onlyStrings),
  };
  return writes;
}

/** `once` uses values that fit a document client, too. DynamoDB stores their type and text. */
function onlyStrings(item: ParkingItem): ParkingItem {
  const stored = Object.entries(item).map(([name, value]: [string, Record<string, unknown>]) => {
    const type = value.S === undefined ? 'N' : 'S';
    return [name, { [type]: String(value[type]) }];
  });
  return Object.fromEntries(stored);
}
