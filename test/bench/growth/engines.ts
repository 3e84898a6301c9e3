import {
  BalancedKeyAllocator,
  fanOutItems,
  fanOutQuery,
  HashKeyLedger,
  type IndexQueryInput,
  type ListShardsOutput,
  MemoryParkingStore,
  OrderedConsumer,
  OrderedProducer,
  type ParkedKey,
  type PutRecordsInput,
  type RegistryEntry,
  type RegistryHead,
  type RegistryStore,
  uniformRanges,
} from '../../../lib/core';
import { indexConfig } from '../../support/index-config';

/** Work that is measured at several sizes. */
export interface Engine {
  readonly name: string;
  /** The name of the unit to which the cost refers, such as a record. */
  readonly unit: string;
  /** The name of the input that grows. */
  readonly of: string;
  readonly sizes: readonly number[];
  /** The number of units at a size. @default the size */
  units?(size: number): number;
  /** Does the work, and returns the objects that stay in memory. */
  run(size: number): Promise<unknown> | unknown;
}

const TO_A_MILLION = [100, 1_000, 10_000, 100_000, 1_000_000];
const TO_ALL_SHARDS = [100, 1_000, 10_000];
const RECORDS = 100_000;
/** The number of shards of the stream for which the allocator chooses hash keys. */
const SHARDS = 16;

export const ENGINES: readonly Engine[] = [
  { name: 'a Map, for comparison', unit: 'key', of: 'keys', sizes: TO_A_MILLION, run: fillMap },
  {
    name: 'ordered producer, keys',
    unit: 'record',
    of: 'keys',
    sizes: TO_A_MILLION,
    run: (keys) => produce(keys, keys),
  },
  {
    name: 'ordered producer, shards',
    unit: 'record',
    of: 'shards',
    sizes: TO_ALL_SHARDS,
    units: () => RECORDS,
    run: (shards) => produce(RECORDS, RECORDS, shards),
  },
  { name: 'ordered consumer, keys', unit: 'record', of: 'keys', sizes: TO_A_MILLION, run: consume },
  { name: 'parked keys', unit: 'key', of: 'keys', sizes: TO_A_MILLION, run: park },
  { name: 'parked records of one key', unit: 'record', of: 'records', sizes: TO_A_MILLION, run: parkOne },
  { name: 'hash key allocator, owners', unit: 'owner', of: 'owners', sizes: TO_A_MILLION, run: allocate },
  { name: 'hash key ledger, owners', unit: 'owner', of: 'owners', sizes: TO_A_MILLION.slice(0, 4), run: assign },
  { name: 'fan-out page, shards', unit: 'shard', of: 'shards', sizes: TO_ALL_SHARDS, run: page },
  { name: 'fan-out of all items, items', unit: 'item', of: 'items', sizes: TO_A_MILLION, run: readAll },
];

async function produce(records: number, keys: number, shards?: number): Promise<unknown> {
  const stream = shards === undefined ? undefined : streamOf(shards);
  const idOf = (hashKey?: string): string => stream?.idsByHashKey.get(hashKey!) ?? 'shardId-0';
  const client = {
    async putRecords({ Records }: PutRecordsInput) {
      const results = Records.map(({ ExplicitHashKey }) => ({ ShardId: idOf(ExplicitHashKey), SequenceNumber: '1' }));
      return { FailedRecordCount: 0, Records: results };
    },
    ...(stream && { listShards: stream.listShards }),
  };
  const producer = new OrderedProducer(client, { streamName: 'Events' });
  const data = Buffer.alloc(93);
  function* source() {
    for (let index = 0; index < records; index++) {
      // The explicit hash key puts each record on the shard that the producer expects. For another shard, the producer
      // would examine every record.
      const explicitHashKey = stream?.hashKeys[index % stream.hashKeys.length];
      yield { partitionKey: `key-${index % keys}`, data, explicitHashKey };
    }
  }
  await producer.putAll(source());
  return producer;
}

interface Stream {
  readonly hashKeys: readonly bigint[];
  readonly idsByHashKey: ReadonlyMap<string, string>;
  listShards(input: { NextToken?: string }): Promise<ListShardsOutput>;
}

const streams = new Map<number, Stream>();

/** A cached stream with this number of shards, because its creation is not part of the measured work. */
function streamOf(count: number): Stream {
  let stream = streams.get(count);
  if (stream === undefined) {
    stream = newStream(count);
    streams.set(count, stream);
  }
  return stream;
}

function newStream(count: number): Stream {
  const ranges = uniformRanges(count);
  const Shards = ranges.map(({ startingHashKey, endingHashKey }, index) => ({
    ShardId: `shardId-${String(index).padStart(12, '0')}`,
    HashKeyRange: { StartingHashKey: String(startingHashKey), EndingHashKey: String(endingHashKey) },
  }));
  return {
    hashKeys: ranges.map(({ startingHashKey }) => startingHashKey),
    idsByHashKey: new Map(Shards.map(({ ShardId, HashKeyRange }) => [HashKeyRange.StartingHashKey, ShardId])),
    async listShards({ NextToken = '0' }) {
      const next = Number(NextToken) + 1_000;
      return { Shards: Shards.slice(Number(NextToken), next), ...(next < count && { NextToken: String(next) }) };
    },
  };
}

/** Measures only the cost of more memory: cache misses and garbage collections. */
function fillMap(keys: number): unknown {
  const map = new Map<string, object>();
  for (let key = 0; key < keys; key++) {
    const name = `account-${key}`;
    map.set(name, { name, number: BigInt(key) });
  }
  return map;
}

const BATCH = 100;

async function consume(keys: number): Promise<unknown> {
  const consumer = new OrderedConsumer(async () => {}, { parking: new MemoryParkingStore() });
  for (let first = 0; first < keys; first += BATCH) {
    const Records = Array.from({ length: BATCH }, (_, index) => ({
      eventSource: 'aws:kinesis',
      eventID: `shardId-000000000000:${first + index}`,
      kinesis: {
        partitionKey: `account-${first + index}`,
        sequenceNumber: String(10n ** 55n + BigInt(first + index)),
        data: 'eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4',
      },
    }));
    await consumer.handler({ Records }, { getRemainingTimeInMillis: () => 60_000 });
  }
  return consumer;
}

const parkedKey = (partitionKey: string): ParkedKey => ({
  partitionKey,
  first: 0,
  next: 0,
  parkedUpTo: {},
  since: 0,
  tries: 0,
  retries: 0,
  dueAt: 0,
  dead: false,
});

const parkedRecord = (partitionKey: string) => ({
  partitionKey,
  data: Buffer.alloc(0),
  subSequenceNumber: 0,
  positions: [],
});

async function park(keys: number): Promise<unknown> {
  const store = new MemoryParkingStore();
  for (let key = 0; key < keys; key++) await store.save(parkedKey(`account-${key}`), [parkedRecord(`account-${key}`)]);
  for await (const { partitionKey } of store.parked()) if (partitionKey === '') throw new Error('no key');
  return store;
}

async function parkOne(records: number): Promise<unknown> {
  const store = new MemoryParkingStore();
  let key = parkedKey('account');
  for (let record = 0; record < records; record++) key = (await store.save(key, [parkedRecord('account')]))!;
  return store;
}

function allocate(owners: number): unknown {
  const allocator = new BalancedKeyAllocator({ ranges: uniformRanges(SHARDS) });
  for (let owner = 0; owner < owners; owner++) allocator.allocate();
  return allocator;
}

async function assign(owners: number): Promise<unknown> {
  const ledger = new HashKeyLedger(memoryStore());
  const ranges = uniformRanges(SHARDS);
  for (let first = 0; first < owners; first += BATCH) {
    const requests = Array.from({ length: BATCH }, (_, index) => ({ owner: `account-${first + index}` }));
    await ledger.allocate(requests, ranges);
  }
  return ledger;
}

function memoryStore(): RegistryStore {
  let stored: RegistryHead | undefined;
  const entries = new Map<string, RegistryEntry>();
  return {
    readHead: async () => stored,
    writeHead: async (head, expected) => {
      if ((stored?.version ?? 0) !== expected) return false;
      stored = head;
      return true;
    },
    readEntry: async (owner) => entries.get(owner),
    readEntries: async () => [...entries.values()],
    writeEntry: async (entry) => void entries.set(entry.owner, entry),
  };
}

const ITEM_BYTES = 100;
const PAGE = 50;

const indexOf = (shards: number) =>
  indexConfig({ shardAttribute: 'byStatusShard', shards: { default: { write: shards, read: shards } } });

const itemAt = (shard: number, index: number) => ({
  jobId: { S: `job-${shard}-${index}` },
  status: { S: 'OPEN' },
  createdAt: { S: String(index).padStart(10, '0') },
  byStatusShard: { N: String(shard) },
  details: { S: 'x'.repeat(ITEM_BYTES) },
});

/** The number of items that fit into a response of DynamoDB (1 MB). */
const ITEMS_OF_ANSWER = 5_000;

/** A client of an index in memory. Every shard has the same number of items, and all items are in one order. */
const clientOf = (itemsOfShard: number) => ({
  async query({ ExpressionAttributeValues, ExclusiveStartKey, Limit = ITEMS_OF_ANSWER }: IndexQueryInput) {
    const shard = Number(Object.values(ExpressionAttributeValues).find((value) => 'N' in value)?.N);
    const first = ExclusiveStartKey === undefined ? 0 : Number(ExclusiveStartKey.createdAt?.S) + 1;
    const count = Math.min(Limit, ITEMS_OF_ANSWER, itemsOfShard - first);
    const Items = Array.from({ length: count }, (_, index) => itemAt(shard, first + index));
    const { details, ...LastEvaluatedKey } = Items.at(-1) ?? itemAt(shard, first);
    const isLast = first + count >= itemsOfShard;
    return { Items, Count: count, ScannedCount: count, ...(!isLast && { LastEvaluatedKey }) };
  },
});

async function page(shards: number): Promise<unknown> {
  return fanOutQuery(clientOf(10), indexOf(shards), { value: 'OPEN', limit: PAGE });
}

async function readAll(items: number): Promise<unknown> {
  let read = 0;
  for await (const _ of fanOutItems(clientOf(items / 10), indexOf(10), { value: 'OPEN' })) read += 1;
  if (read !== items) throw new Error(`read ${read} of ${items} items`);
  return undefined;
}
