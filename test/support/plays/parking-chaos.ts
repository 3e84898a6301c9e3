import type { AttributeValue, DynamoDB } from '@aws-sdk/client-dynamodb';
import { DynamoDbParkingStore, OrderedConsumer, type ShardRecord } from '../../../lib/core/consumer';
import type { Clock } from '../../../lib/core/kernel/clock';
import { seededRandom } from '../../../lib/testing/seeded-random';
import { createKeyedTable } from '../keyed-table';
import { createParkingTable, PARKING_TABLE } from './parking-stores';

const EFFECTS_TABLE = 'ChaosEffects';
/** The longest delay before a key is replayed, which is also the duration of a lease. */
const LONGEST_WAIT_MS = 15 * 60_000;
const MAX_TURNS = 300;
const WRITES = new Set(['putItem', 'updateItem', 'deleteItem', 'transactWriteItems']);
/** The kinds of items that may remain when no key is parked. */
const KINDS_LEFT = new Set(['marks', 'done', 'moves']);

/** A clock that runs 50 times as fast as real time. The timers of a killed process do not keep the test running. */
const FAST_CLOCK: Clock = {
  now: () => 50 * performance.now(),
  schedule(callback, delayMs) {
    const timer = setTimeout(callback, delayMs / 50).unref();
    return () => clearTimeout(timer);
  },
  sleep: (delayMs) => new Promise((resolve) => void FAST_CLOCK.schedule(resolve, delayMs)),
};

export interface ChaosFacts {
  records: number;
  kills: number;
  lateWrites: number;
  throttles: number;
  unprocessed: number;
  corruptResponses: number;
  parked: number;
  retries: number;
  writes: number;
  largeRecords: number;
}

interface ChaosOptions {
  seed: number;
  keys: number;
  records: number;
  /** The number of the write at which a process is killed. The number counts the writes of all processes. @default random writes */
  killAt?: number;
  /** Whether some records are large enough for several transactions. */
  hasLargeRecords?: boolean;
}

export async function createChaosTables(dynamodb: DynamoDB): Promise<void> {
  await createParkingTable(dynamodb);
  await createKeyedTable(dynamodb, EFFECTS_TABLE, 'id');
}

/**
 * The sources of one consumer, with the sequence number before the first record of each source. Both sources have the
 * same keys and shard ids. The second source has lower numbers, so that its records look like duplicates.
 */
const SOURCES = [
  { source: 'arn:aws:kinesis:us-east-1:111122223333:stream/a', from: 5_000 },
  { source: 'arn:aws:kinesis:us-east-1:111122223333:stream/b', from: 1_000 },
];
const TEXT_LENGTH = 54;

/**
 * Processes read shards and replay parked keys, sometimes in parallel, while records arrive. Processes are killed between any two
 * writes, and the last request of a killed process may be applied late. Requests are throttled, batch reads leave keys unprocessed,
 * and responses are truncated. Throws unless each record is processed once and in order, and the table contains no unnecessary
 * items at the end.
 */
export async function playParkingChaos(dynamodb: DynamoDB, options: ChaosOptions): Promise<ChaosFacts> {
  const { seed, keys, hasLargeRecords = false } = options;
  const random = seededRandom(seed);
  const name = `chaos ${seed} ${options.killAt ?? ''}`;
  const facts: ChaosFacts = {
    ...{ records: 0, kills: 0, lateWrites: 0, throttles: 0, unprocessed: 0, corruptResponses: 0, parked: 0 },
    ...{ retries: 0, writes: 0, largeRecords: 0 },
  };
  /** The current time for leases and replays. */
  let now = 0;
  let hostility = options.killAt === undefined ? 0.01 + random() * 0.06 : 0;
  const poison = new Set<string>();
  let lastError: unknown;
  /** Delayed requests of killed processes. */
  const late: (() => Promise<unknown>)[] = [];

  const shards = SOURCES.map((each) => ({ ...each, records: recordsOf(each), read: 0 }));
  for (let turn = 0; shards.some(({ read, records }) => read < records.length); turn++) {
    if (turn > MAX_TURNS) throw new Error(`a shard does not advance: ${lastError}`);
    const readers = shards.map(async (shard) => {
      const batch = shard.records.slice(shard.read, shard.read + 1 + Math.floor(random() * keys));
      const ends = await Promise.all([readBatch(batch, shard), random() < 0.15 && readBatch(batch, shard)]);
      shard.read += ends[0];
    });
    await Promise.all([...readers, random() < 0.6 && retry()]);
    if (random() < 0.2) await late.shift()?.();
    for (const text of [...poison]) if (random() < 0.2) poison.delete(text);
  }
  hostility = 0;
  poison.clear();
  for (const write of late) await write();
  for (let turn = 0; (await retry())?.stillParked !== 0; turn++) {
    if (turn > MAX_TURNS) throw new Error(`a key is still parked: ${lastError}`);
  }
  await checkEffects();
  await checkTable();
  return facts;

  function recordsOf({ source, from }: (typeof SOURCES)[number]): ShardRecord[] {
    return Array.from({ length: options.records }, (_, index) => {
      const text = `${source} ${String(index).padStart(5, '0')}`;
      if (options.killAt !== undefined || random() < 0.3) poison.add(text);
      facts.records += 1;
      const isLarge = hasLargeRecords && random() < 0.2;
      if (isLarge) facts.largeRecords += 1;
      const data = isLarge ? Buffer.alloc(4_000_000, ' ') : Buffer.alloc(TEXT_LENGTH + Math.floor(random() * 300), ' ');
      data.write(text);
      return {
        shardId: 'shardId-000000000000',
        partitionKey: `key ${Math.floor(random() ** 2 * keys)}`,
        sequenceNumber: String(from + index),
        data,
      };
    });
  }

  async function readBatch(batch: readonly ShardRecord[], { source }: { source: string }): Promise<number> {
    const progress = await inProcess((consumer) => consumer.process(batch, { source }));
    if (progress === undefined) return 0;
    return progress.comesAgain === undefined ? batch.length : batch.indexOf(progress.comesAgain);
  }

  function retry() {
    now += LONGEST_WAIT_MS;
    facts.retries += 1;
    return inProcess((consumer) => consumer.retryParked());
  }

  /** Runs this work in a process. Returns undefined if the process is killed or the work fails. */
  async function inProcess<T>(work: (consumer: OrderedConsumer) => Promise<T>): Promise<T | undefined> {
    let kill = (): void => {};
    const killed = new Promise<undefined>((resolve) => {
      kill = () => {
        facts.kills += 1;
        resolve(undefined);
      };
    });
    const client = hostileClient(kill);
    const parking = new DynamoDbParkingStore(client, { tableName: PARKING_TABLE, consumer: name });
    const consumer = new OrderedConsumer(
      async ({ partitionKey, data }, { once }) => {
        const text = textOf(data);
        if (poison.has(text)) throw new Error('poison');
        const append = {
          TableName: EFFECTS_TABLE,
          Key: { id: { S: `${name}/${partitionKey}` } },
          UpdateExpression: 'SET texts = list_append(if_not_exists(texts, :none), :text)',
          ExpressionAttributeValues: { ':none': { L: [] }, ':text': { L: [{ S: text }] } } as Record<
            string,
            AttributeValue
          >,
        };
        await client.transactWriteItems({ TransactItems: once([{ Update: append }]) });
      },
      {
        parking,
        ...{ attempts: 2, concurrency: 8, attemptTimeoutMs: 500_000, maxTries: 1_000_000, random },
        ...{ maxAgeMs: Number.MAX_SAFE_INTEGER, maxKeys: random() < 0.5 ? 1 : 1_000 },
        timeOfDay: () => now,
        clock: FAST_CLOCK,
        onFailure: ({ isParked }) => {
          if (isParked) facts.parked += 1;
        },
      },
    );
    return Promise.race([
      work(consumer).catch((error) => {
        lastError = error;
        return undefined;
      }),
      killed,
    ]);
  }

  function hostileClient(kill: () => void): DynamoDB {
    let isKilled = false;
    const die = (): Promise<never> => {
      isKilled = true;
      kill();
      return new Promise(() => {});
    };
    const isTimeToDie = (): boolean =>
      options.killAt === undefined ? random() < 1.5 * hostility : facts.writes === options.killAt;
    const call = async (method: keyof DynamoDB, input: unknown): Promise<unknown> => {
      if (isKilled) return new Promise(() => {});
      const send = () => (dynamodb[method] as (request: unknown) => Promise<unknown>).call(dynamodb, input);
      const isWrite = WRITES.has(method);
      if (isWrite) {
        facts.writes += 1;
        if (isTimeToDie()) {
          const fate = random();
          if (fate < 0.4) await send().catch(() => {});
          else if (fate < 0.7) {
            facts.lateWrites += 1;
            late.push(() => send().catch(() => {}));
          }
          return die();
        }
      }
      if (random() < hostility) {
        facts.throttles += 1;
        throw Object.assign(new Error('slow down'), { name: 'ProvisionedThroughputExceededException' });
      }
      if (method === 'batchGetItem' && random() < hostility * 5) {
        facts.unprocessed += 1;
        const { RequestItems } = input as { RequestItems: Record<string, unknown> };
        return { Responses: { [PARKING_TABLE]: [] }, UnprocessedKeys: RequestItems };
      }
      const response = await send();
      if (isKilled) return new Promise(() => {});
      if (!isWrite && random() < hostility) {
        facts.corruptResponses += 1;
        return method === 'getItem' ? undefined : {};
      }
      return response;
    };
    const has = (method: string | symbol) => typeof dynamodb[method as keyof DynamoDB] === 'function';
    return new Proxy(dynamodb, {
      get: (_, method) => (has(method) ? (input: unknown) => call(method as keyof DynamoDB, input) : undefined),
    });
  }

  async function checkEffects(): Promise<void> {
    const partitionKeys = new Set(shards.flatMap(({ records }) => records.map(({ partitionKey }) => partitionKey)));
    for (const partitionKey of partitionKeys) {
      const { Item } = await dynamodb.getItem({
        TableName: EFFECTS_TABLE,
        Key: { id: { S: `${name}/${partitionKey}` } },
        ConsistentRead: true,
      });
      const texts = Item?.texts?.L?.map(({ S }) => S!) ?? [];
      for (const { source, records } of shards) {
        const found = texts.filter((text) => text.startsWith(source)).join();
        const written = records
          .filter((record) => record.partitionKey === partitionKey)
          .map(({ data }) => textOf(data));
        if (found !== written.join()) throw new Error(`${partitionKey} has ${found} instead of ${written}`);
      }
    }
  }

  async function checkTable(): Promise<void> {
    let ExclusiveStartKey: Record<string, AttributeValue> | undefined;
    do {
      const page = await dynamodb.scan({ TableName: PARKING_TABLE, ConsistentRead: true, ExclusiveStartKey });
      for (const { id, part, expiresAt } of page.Items!) {
        const [consumer, kind] = JSON.parse(id!.S!);
        if (consumer !== name) continue;
        if (!KINDS_LEFT.has(kind)) throw new Error(`the table still contains ${id!.S} ${part!.S}`);
        if (kind === 'marks' && expiresAt !== undefined) throw new Error('the marks have a time to live');
      }
      ExclusiveStartKey = page.LastEvaluatedKey;
    } while (ExclusiveStartKey !== undefined);
  }
}

function textOf(data: Uint8Array): string {
  return Buffer.from(data).toString('utf8', 0, TEXT_LENGTH).trim();
}

/** Returns the options for a seed: a few keys with some large records, many keys, or a few keys. */
export function chaosOfSeed(seed: number): ChaosOptions {
  if (seed % 8 === 1) return { seed, keys: 2, records: 6, hasLargeRecords: true };
  return seed % 8 === 3 ? { seed, keys: 40, records: 60 } : { seed, keys: 1 + (seed % 7), records: 20 };
}

/** Throws unless each of these events has happened in at least one test run. */
export function expectFacts(facts: readonly (keyof ChaosFacts)[], plays: readonly ChaosFacts[]): void {
  for (const fact of facts) {
    expect({ fact, isInSome: plays.some((each) => each[fact] > 0) }).toEqual({ fact, isInSome: true });
  }
}
