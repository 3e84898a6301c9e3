import { setTimeout as sleep } from 'node:timers/promises';
import type { Kinesis } from '@aws-sdk/client-kinesis';
import type { Pool } from 'pg';
import type { Delivery, ShardBatch } from '../../../bin/local/event-sources/event-source-worker';
import { StreamPoller } from '../../../bin/local/event-sources/stream-poller';
import { type Once, OrderedConsumer, type ParkingStore, type UserRecord } from '../../../lib/core/consumer';
import { OutboxRelay } from '../../../lib/core/outbox';
import { OrderedProducer, type PutRecordsClient } from '../../../lib/core/producer';
import { seededRandom } from '../../../lib/testing/seeded-random';
import { SOURCE } from '../../support/fakes/stream-events';
import { tuned } from '../../support/postgres/tuned';

export const STREAM = 'Events';

interface PlayedParts {
  /** The pool of a database with an outbox and the table of `once.postgres`. */
  pool: Pool;
  /** The client of a Kinesis service. Its stream has `SHARDS` shards. */
  kinesis: Kinesis;
  /** The same stream through a network that throttles, fails, delays requests and loses responses. */
  network: PutRecordsClient;
  /** Returns a new parking store for a process. */
  parking(): ParkingStore;
  seed: number;
}

interface PlayedFacts {
  committed: number;
  rolledBack: number;
  crashes: number;
  parked: number;
}

const ACCOUNTS = ['ada', 'bob', 'cy', 'dan', 'eve', 'fay'];
export const SHARDS = 2;
const CHANGES = 25;
const WRITERS = 4;
/**
 * The maximum number of crashes. Without a maximum, a process on a busy machine would always crash before the end of a
 * batch.
 */
const MAX_CRASHES = 30;
const LONG_MS = 60_000;
const LOOK_AGAIN_MS = 20;

/**
 * Runs database transactions, an outbox with its relay, a throttled stream whose shards are split, and a consumer. The
 * consumer crashes, and some of its records always fail. Throws unless each committed change has taken effect once, in
 * the order of the changes of its account.
 */
export async function playTransactionsToEffects(parts: PlayedParts): Promise<PlayedFacts> {
  const { pool, kinesis, network, parking, seed } = parts;
  const random = seededRandom(seed);
  const facts: PlayedFacts = { committed: 0, rolledBack: 0, crashes: 0, parked: 0 };
  const first = (await kinesis.listShards({ StreamName: STREAM })).Shards!;
  let isChildRead = false;
  let isCalm = false;
  let isSplit = false;
  const mayBePoisoned = (account: string) => account < 'd';
  const isPoison = (account: string, change: number) => !isCalm && change % 10 === 3 && mayBePoisoned(account);
  await pool.query('CREATE TABLE account (name text PRIMARY KEY, changes int NOT NULL DEFAULT 0)');
  await pool.query('CREATE TABLE effect (id serial, account text, change int)');
  await pool.query('INSERT INTO account SELECT unnest($1::text[])', [ACCOUNTS]);

  const ended = new AbortController();
  const producer = new OrderedProducer(network, { streamName: STREAM, aggregation: true, sequence: true });
  const relaying = new OutboxRelay(pool, producer, tuned({ pollMs: 50, saveMs: 50 })).run({ signal: ended.signal });
  const consuming = consume();
  try {
    await Promise.all(Array.from({ length: WRITERS }, write));
    await writeUntilAllBefell();
    // Accounts without failing records must not wait for other accounts.
    await untilAllTookEffect(ACCOUNTS.filter((account) => !mayBePoisoned(account)));
    isCalm = true;
    await untilAllTookEffect(ACCOUNTS);
  } finally {
    ended.abort();
    await Promise.all([relaying, consuming]);
    await producer.close();
  }
  return facts;

  /** Waits until each change is applied once and in order. Throws after a time limit. */
  async function untilAllTookEffect(accounts: readonly string[]): Promise<void> {
    for (let waitedMs = 0; ; waitedMs += LOOK_AGAIN_MS) {
      const wrong = await Promise.all(accounts.map(whatIsWrongWith));
      const [first] = wrong.flatMap((each) => each ?? []);
      if (first === undefined) return;
      if (waitedMs >= LONG_MS) throw new Error(first);
      await sleep(LOOK_AGAIN_MS);
    }
  }

  async function whatIsWrongWith(account: string): Promise<string | undefined> {
    const { rows } = await pool.query('SELECT changes FROM account WHERE name = $1', [account]);
    const expected = Array.from({ length: rows[0].changes }, (_, index) => index + 1).join();
    const { rows: effects } = await pool.query('SELECT change FROM effect WHERE account = $1 ORDER BY id', [account]);
    const found = effects.map(({ change }) => change).join();
    return found === expected ? undefined : `${account} has ${found} instead of ${expected}`;
  }

  /** Updates a row in each transaction, so that other transactions with the same row wait. */
  async function write(): Promise<void> {
    for (let change = 0; change < CHANGES; change++) {
      await transact();
      if (isSplit || facts.committed < (WRITERS * CHANGES) / 3) continue;
      isSplit = true;
      await splitFirstShard();
    }
  }

  /**
   * Writes until the consumer has read a child shard, has crashed and has parked a key. On a busy machine, all other changes may be
   * applied before that.
   */
  async function writeUntilAllBefell(): Promise<void> {
    for (let waitedMs = 0; !isChildRead || facts.crashes === 0 || facts.parked === 0; waitedMs += LOOK_AGAIN_MS) {
      if (waitedMs >= LONG_MS)
        throw new Error(`some events did not happen: ${JSON.stringify({ isChildRead, ...facts })}`);
      await transact();
      await sleep(LOOK_AGAIN_MS);
    }
  }

  /** Runs a transaction, and sometimes rolls it back. */
  async function transact(): Promise<void> {
    const account = ACCOUNTS[Math.floor(random() * ACCOUNTS.length)]!;
    const client = await pool.connect();
    const ends = random() < 0.2 ? 'ROLLBACK' : 'COMMIT';
    await client.query('BEGIN');
    const raise = 'UPDATE account SET changes = changes + 1 WHERE name = $1 RETURNING changes';
    const { rows } = await client.query(raise, [account]);
    await client.query('SELECT outbox.put($1, $2::text)', [account, JSON.stringify({ change: rows[0].changes })]);
    await client.query(ends);
    client.release();
    if (ends === 'COMMIT') facts.committed += 1;
    else facts.rolledBack += 1;
  }

  /** Writes the effect of a change, in one transaction with its position. */
  async function apply(account: string, change: number, once: Once): Promise<void> {
    const client = await pool.connect();
    try {
      await client.query('BEGIN');
      await once.postgres(client);
      await client.query('INSERT INTO effect (account, change) VALUES ($1, $2)', [account, change]);
      await client.query('COMMIT');
    } catch (error) {
      await client.query('ROLLBACK');
      throw error;
    } finally {
      client.release();
    }
  }

  async function splitFirstShard(): Promise<void> {
    const [shard] = first;
    const { StartingHashKey, EndingHashKey } = shard!.HashKeyRange!;
    const middle = (BigInt(StartingHashKey!) + BigInt(EndingHashKey!)) / 2n;
    const NewStartingHashKey = String(middle);
    await kinesis.splitShard({ StreamName: STREAM, ShardToSplit: shard!.ShardId!, NewStartingHashKey });
  }

  /** Delivers batches like an event source mapping. A second loop replays parked keys in parallel. */
  async function consume(): Promise<void> {
    const poller = new StreamPoller(
      kinesis,
      {
        ...{ streamName: STREAM, from: 'TRIM_HORIZON', workers: 1, atTipMs: LOOK_AGAIN_MS },
        // A failed batch is delivered again without a delay, so that crashes do not slow the test down.
        ...{ batchSize: 10, windowMs: 0, bisects: false, retryMs: 1, longestRetryMs: LOOK_AGAIN_MS },
        deliver,
        onDiscard: () => {
          throw new Error('no record is discarded');
        },
        onProblem: () => {},
      },
      ended.signal,
    );
    await poller.begin();
    await Promise.all([poller.run(), retryNowAndThen()]);
  }

  /** After a crash the whole batch is delivered again. */
  async function deliver({ shardId, records }: ShardBatch): Promise<Delivery> {
    isChildRead ||= first.every(({ ShardId }) => ShardId !== shardId);
    const batch = records.map(({ PartitionKey, SequenceNumber, Data }) => ({
      ...{ shardId, partitionKey: PartitionKey!, sequenceNumber: SequenceNumber!, data: Data! },
    }));
    const progress = await inProcess((consumer) => consumer.process(batch, { source: SOURCE }));
    if (progress === undefined) return { done: 0 };
    return { done: progress.comesAgain === undefined ? batch.length : batch.indexOf(progress.comesAgain) };
  }

  async function retryNowAndThen(): Promise<void> {
    while (!ended.signal.aborted) {
      await inProcess((consumer) => consumer.retryParked());
      await sleep(20);
    }
  }

  async function inProcess<T>(work: (consumer: OrderedConsumer) => Promise<T>): Promise<T | undefined> {
    let crash = (): void => {};
    const crashed = new Promise<undefined>((resolve) => {
      crash = () => {
        facts.crashes += 1;
        resolve(undefined);
      };
    });
    const mayCrash = async (): Promise<void> => {
      if (isCalm || facts.crashes >= MAX_CRASHES || random() >= 0.03) return;
      crash();
      await new Promise(() => {});
    };
    const handle = async ({ partitionKey, data }: UserRecord, { once }: { once: Once }): Promise<void> => {
      const { change } = JSON.parse(Buffer.from(data).toString());
      await mayCrash();
      if (isPoison(partitionKey, change)) throw new Error('poison');
      await apply(partitionKey, change, once);
      await mayCrash();
    };
    const consumer = new OrderedConsumer(handle, {
      parking: parking(),
      ...{ attempts: 2, retryMs: 10, maxTries: 1_000_000, attemptTimeoutMs: 5_000 },
      // This time runs 1,000 times as fast as real time, so that the wait for a parked key, or for the lease of a crashed process,
      // takes at most one second.
      timeOfDay: () => Date.now() * 1_000,
      maxAgeMs: Number.MAX_SAFE_INTEGER,
      onFailure: ({ isParked }) => {
        if (isParked) facts.parked += 1;
      },
    });
    return Promise.race([work(consumer).catch(() => undefined), crashed]);
  }
}
