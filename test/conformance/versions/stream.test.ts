import type { Kinesis } from '@aws-sdk/client-kinesis';
import {
  type BatchResponse,
  deaggregate,
  type Fence,
  parseFence,
  type ReplaySummary,
  type ShardRecord,
  shardIndexOf,
  uniformRanges,
} from '../../../lib/core';
import { seededRandom } from '../../../lib/testing/seeded-random';
import { waitUntilActive } from '../../support/active-stream';
import { kinesisEvent } from '../../support/fakes/stream-events';
import { createKeyedTable } from '../../support/keyed-table';
import { type Play, playVersions } from './play-versions';
import type { ProducerMode, streamCalls } from './stream-worker';
import type { Version } from './version-worker';

type StreamCalls = ReturnType<typeof streamCalls>;

const SHARDS = 3;
const TURNS = 3;
const KEYS = ['a', 'b', 'c', 'd', 'e', 'f'];
/** A hand-over can move the owners of these keys. */
const OWNED = ['a', 'b', 'c'];
const MODES: ProducerMode[] = [false, 'per-key' as const, 'packed' as const].flatMap((aggregation) => [
  { aggregation, sequence: false },
  { aggregation, sequence: true },
]);
/** The longest delay before a key is replayed. */
const LONGEST_WAIT_MS = 15 * 60_000;
const LAST_TURNS = 50;
/** In the fast time of a worker, this is 40 seconds. */
const REMAINING_MS = 2_000_000;

playVersions<StreamCalls>(
  {
    scenario: 'producer and consumer of a stream',
    program: 'stream-worker',
    seeds: 1,
    expected: ['duplicates', 'movesBetweenVersions', 'parkedByOldReplayedByNew', 'parkedByNewReplayedByOld'],
  },
  playStream,
);

/**
 * Producers of the running versions put records and move owners. Consumers of the running versions read the shards
 * and replay parked keys. Handlers fail before and after their transaction. Throws unless each record takes effect once,
 * in the order of its key.
 */
async function playStream(play: Play<StreamCalls>): Promise<void> {
  const { name, phases, clients, add, random, pick, worker, restart } = play;
  const { kinesis, dynamodb } = clients;
  const [stream, parkingTable, effectsTable] = [name, `${name}-parked`, `${name}-effects`];
  await createStream(kinesis, stream);
  await createKeyedTable(dynamodb, parkingTable, 'id', 'part');
  await createKeyedTable(dynamodb, effectsTable, 'id');

  const written = new Map<string, string[]>(KEYS.map((key) => [key, []]));
  const centres = uniformRanges(SHARDS).map(({ startingHashKey }) => startingHashKey + 1000n);
  const hashKeys = new Map(OWNED.map((key) => [key, pick(centres)]));
  const parkedBy = new Map<string, Version>();
  /** The versions that have handled the `end` fence of a move. */
  const endedBy = new Map<string, Version[]>();
  const poison = new Set<string>();
  const failsAfter = new Set<string>();
  const shards = await Promise.all(
    (await shardIds(kinesis, stream)).map((shardId) => shardReader(kinesis, stream, shardId)),
  );
  let now = 0;

  for (const [phase, versions] of phases.entries()) {
    for (let turn = 0; turn < TURNS; turn++) {
      // At the start of a deployment, either the producers or the consumers still have the previous version.
      const previous = turn === 0 ? (phases[phase - 1] ?? versions) : versions;
      const [producers, consumers] = pick([[versions, previous] as const, [previous, versions] as const]);
      await put(producers);
      const movedTo = random() < 0.7 ? await moveOwner(producers) : undefined;
      await put(producers);
      // Readers of another turn, and perhaps of another version, wait for the end of the move.
      await readShards(consumers, random() < 0.5 ? movedTo : undefined);
      if (random() < 0.6) await replay(consumers);
      for (const text of poison) if (random() < 0.3) poison.delete(text);
    }
    await restart();
  }
  poison.clear();
  const last = phases.at(-1)!;
  await readShards(last);
  for (let turn = 0; (await replay(last)) > 0; turn++) {
    if (turn > LAST_TURNS) throw new Error('a key is still parked');
  }
  for (const [key, texts] of written) {
    const { Item } = await dynamodb.getItem({ TableName: effectsTable, Key: { id: { S: key } }, ConsistentRead: true });
    const effects = Item?.texts?.L?.map(({ S }) => S!) ?? [];
    if (effects.join(' ') !== texts.join(' '))
      throw new Error(`key ${key} has ${effects.join(' ')} instead of ${texts.join(' ')}`);
    add('effects', effects.length);
  }
  await dynamodb.deleteTable({ TableName: parkingTable });

  async function put(versions: readonly Version[]): Promise<void> {
    const records = Array.from({ length: 1 + Math.floor(random() * 8) }, () => {
      const partitionKey = pick(KEYS);
      const texts = written.get(partitionKey)!;
      const text = `${partitionKey}${texts.length}`;
      texts.push(text);
      if (random() < 0.15) poison.add(text);
      if (random() < 0.1) failsAfter.add(text);
      return { partitionKey, text, explicitHashKey: hashKeys.get(partitionKey) };
    });
    const producer = await worker(pick(versions));
    const { lost } = await producer.call('put', {
      stream,
      mode: pick(MODES),
      seed: Math.floor(random() * 1e9),
      records,
    });
    add('records', records.length);
    add('duplicates', lost);
  }

  /**
   * Moves an owner, and returns its new shard. Some moves fail before they are recorded, and then the records of the
   * owner keep the old hash key.
   */
  async function moveOwner(versions: readonly Version[]): Promise<number> {
    const partitionKey = pick(OWNED);
    const [fromHashKey, toHashKey] = [hashKeys.get(partitionKey)!, pick(centres)];
    const fails = random() < 0.3;
    const producer = await worker(pick(versions));
    const move = { stream, mode: pick(MODES), partitionKey, fromHashKey, toHashKey, fails };
    const moved = await producer.call('handOver', move).then(
      () => true,
      (error) => {
        if (fails) return false;
        throw error;
      },
    );
    if (moved) hashKeys.set(partitionKey, toHashKey);
    add('moves');
    return shardIndexOf(toHashKey, uniformRanges(SHARDS));
  }

  /**
   * Reads each shard to its end, except one shard. The readers of the shards run in parallel, because moved keys wait for
   * each other.
   */
  async function readShards(versions: readonly Version[], except?: number): Promise<void> {
    const read = shards.filter((_, shard) => shard !== except);
    const seeds = read.map(() => random() * 1e9);
    await Promise.all(
      read.map(async (shard, reader) => {
        // Each reader has its own random numbers, so that its choices do not depend on the speed of other readers.
        const own = seededRandom(seeds[reader]!);
        const version = (): Version => versions[Math.floor(own() * versions.length)]!;
        await shard.fetch();
        let previous: readonly ShardRecord[] = [];
        while (shard.unread.length > 0) {
          const batch = shard.unread.slice(0, 1 + Math.floor(own() * 10));
          // Lambda can deliver an earlier batch again, and it can deliver a batch twice in parallel.
          const again = own() < 0.2 ? [previous, batch][Number(own() < 0.5)]! : [];
          add('duplicates', again.length);
          const [handled] = await Promise.all([
            consume(version(), batch),
            again.length > 0 && consume(version(), again),
          ]);
          shard.unread.splice(0, handled);
          previous = batch.slice(0, handled);
        }
      }),
    );
  }

  /** Handles a batch. Returns the number of handled records. */
  async function consume(version: Version, batch: readonly ShardRecord[]): Promise<number> {
    const consumer = await worker(version);
    const result = await consumer.call(
      'consume',
      inputOf(kinesisEvent(batch, `arn:aws:kinesis:us-east-1:111122223333:stream/${stream}`)),
    );
    expectNoLetGo(result.letGo);
    for (const key of result.parked) parkedBy.set(key, version);
    const [failure] = (result.response as BatchResponse).batchItemFailures;
    if (failure !== undefined)
      return batch.findIndex(({ sequenceNumber }) => sequenceNumber === failure.itemIdentifier);
    for (const { moveId, side } of batch.flatMap(fencesOf)) {
      if (side === 'end') endedBy.set(moveId, [...(endedBy.get(moveId) ?? []), version]);
      else if (endedBy.get(moveId)?.every((other) => other !== version)) add('movesBetweenVersions');
    }
    return batch.length;
  }

  /** Replays the parked keys. Returns the number of keys that are still parked. */
  async function replay(versions: readonly Version[]): Promise<number> {
    now += LONGEST_WAIT_MS;
    const version = pick(versions);
    const consumer = await worker(version);
    const { response, applied, letGo } = await consumer.call('consume', inputOf({ retryParked: true }));
    expectNoLetGo(letGo);
    for (const key of new Set(applied.map((text) => text[0]!))) {
      const by = parkedBy.get(key);
      if (by === 'old' && version === 'new') add('parkedByOldReplayedByNew');
      if (by === 'new' && version === 'old') add('parkedByNewReplayedByOld');
    }
    return (response as ReplaySummary).stillParked;
  }

  function inputOf(event: Parameters<StreamCalls['consume']>[0]['event']) {
    return { consumer: name, parkingTable, effectsTable, event, now, remainingMs: REMAINING_MS, poison, failsAfter };
  }
}

/** The fences in a Kinesis record. */
function fencesOf(record: ShardRecord): Fence[] {
  return deaggregate(record).flatMap(({ data }) => parseFence(data) ?? []);
}

function expectNoLetGo(letGo: number): void {
  if (letGo > 0) throw new Error('a consumer has stopped waiting for the end of a move');
}

async function createStream(kinesis: Kinesis, StreamName: string): Promise<void> {
  await kinesis.createStream({ StreamName, ShardCount: SHARDS });
  await waitUntilActive(kinesis, StreamName);
}

async function shardIds(kinesis: Kinesis, StreamName: string): Promise<string[]> {
  const { Shards = [] } = await kinesis.listShards({ StreamName });
  return Shards.map(({ ShardId }) => ShardId!);
}

/** Reads the records of a shard in order. */
async function shardReader(kinesis: Kinesis, StreamName: string, ShardId: string) {
  const first = await kinesis.getShardIterator({ StreamName, ShardId, ShardIteratorType: 'TRIM_HORIZON' });
  let iterator = first.ShardIterator;
  const unread: ShardRecord[] = [];
  const fetch = async (): Promise<void> => {
    const { Records = [], NextShardIterator } = await kinesis.getRecords({ ShardIterator: iterator });
    iterator = NextShardIterator;
    for (const { PartitionKey, SequenceNumber, Data } of Records) {
      unread.push({ shardId: ShardId, partitionKey: PartitionKey!, sequenceNumber: SequenceNumber!, data: Data! });
    }
  };
  return { unread, fetch };
}
