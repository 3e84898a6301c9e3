import type { DynamoDB } from '@aws-sdk/client-dynamodb';
import { DynamoDbParkingStore, OrderedConsumer, type ShardRecord } from '../../../lib/core/consumer';
import { seededRandom } from '../../../lib/testing/seeded-random';
import { SOURCE, shardOf, textOf } from '../fakes/stream-events';
import { createKeyedTable } from '../keyed-table';
import { type HostileFacts, HostileProcess } from './hostile-process';
import { createParkingTable, PARKING_TABLE } from './parking-stores';

export const EFFECTS_TABLE = 'Effects';
const KEYS = ['a', 'b', 'c'];
const MOST_TURNS = 500;
/** Until the next retry of a key, and until a lease is over. */
const LONGEST_WAIT_MS = 15 * 60_000;

export interface DynamoDbConsumerFacts extends HostileFacts {
  parked: number;
  twoAtOnce: number;
}

export async function createConsumerTables(dynamodb: DynamoDB): Promise<void> {
  await createParkingTable(dynamodb);
  await createKeyedTable(dynamodb, EFFECTS_TABLE, 'id');
}

/**
 * A shard that processes read one after the other, and sometimes two at once, with the transactions of a real table: they crash
 * before and behind each call, requests fail, and answers are lost. Throws unless each record has taken effect once and in order.
 */
export async function playConsumerOnDynamoDb(dynamodb: DynamoDB, seed: number): Promise<DynamoDbConsumerFacts> {
  const random = seededRandom(seed);
  const facts: DynamoDbConsumerFacts = { crashes: 0, lostAnswers: 0, refusedCalls: 0, parked: 0, twoAtOnce: 0 };
  const name = `seed ${seed}`;
  /** The time of day, which leases and retries go by. */
  let now = 0;
  let hostility = 0.02 + random() * 0.1;
  const poison = new Set<string>();
  const records = shardOf(
    Array.from({ length: 12 + Math.floor(random() * 20) }, (_, index) => {
      const text = `${KEYS[Math.floor(random() * KEYS.length)]}${String(index).padStart(3, '0')}`;
      if (random() < 0.15) poison.add(text);
      return text;
    }),
  );

  /** A process, and what to do with it until it crashes. Undefined if it crashed. */
  async function inProcess<T>(work: (consumer: OrderedConsumer) => Promise<T>): Promise<T | undefined> {
    const process = new HostileProcess(random, () => hostility, facts);
    const client = process.client(dynamodb);
    const parking = new DynamoDbParkingStore(client, { tableName: PARKING_TABLE, consumer: name });
    const consumer = new OrderedConsumer(
      async (record, { once }) => {
        const text = textOf(record);
        if (poison.has(text)) throw new Error('poison');
        const Key = { id: { S: `${name}/${record.partitionKey}` } };
        const UpdateExpression = 'SET texts = list_append(if_not_exists(texts, :none), :text)';
        const ExpressionAttributeValues = { ':none': { L: [] }, ':text': { L: [{ S: text }] } };
        const append = { TableName: EFFECTS_TABLE, Key, UpdateExpression, ExpressionAttributeValues };
        await client.transactWriteItems({ TransactItems: once([{ Update: append }]) });
      },
      {
        parking,
        ...{
          attempts: 2,
          concurrency: 2,
          attemptTimeoutMs: 2_000,
          maxTries: 1_000_000,
          maxAgeMs: Number.MAX_SAFE_INTEGER,
          random,
        },
        timeOfDay: () => now,
        onFailure: ({ isParked }) => {
          if (isParked) facts.parked += 1;
        },
      },
    );
    return process.run(work(consumer));
  }

  let read = 0;
  const readBatch = async (batch: readonly ShardRecord[]): Promise<number> => {
    const progress = await inProcess((consumer) => consumer.process(batch, { source: SOURCE }));
    if (progress === undefined) return 0;
    return progress.comesAgain === undefined ? batch.length : batch.indexOf(progress.comesAgain);
  };
  for (let turn = 0; read < records.length; turn++) {
    if (turn > MOST_TURNS) throw new Error(`the shard does not go on behind record ${read}`);
    const batch = records.slice(read, read + 1 + Math.floor(random() * 8));
    const isTwice = random() < 0.2;
    if (isTwice) facts.twoAtOnce += 1;
    const [ended] = await Promise.all([readBatch(batch), isTwice && readBatch(batch), random() < 0.5 && retry()]);
    read += ended!;
  }
  hostility = 0;
  poison.clear();
  for (let turn = 0; (await retry())?.stillParked !== 0; turn++) {
    if (turn > MOST_TURNS) throw new Error('a key stays parked');
  }
  for (const key of KEYS) {
    const { Item } = await dynamodb.getItem({ TableName: EFFECTS_TABLE, Key: { id: { S: `${name}/${key}` } } });
    const texts = Item?.texts?.L?.map(({ S }) => S).join(' ') ?? '';
    const written = records.map(textOf).filter((text) => text.startsWith(key));
    if (texts !== written.join(' ')) throw new Error(`${key} has ${texts} and not ${written.join(' ')}`);
  }
  return facts;

  function retry() {
    now += LONGEST_WAIT_MS;
    return inProcess((consumer) => consumer.retryParked());
  }
}
