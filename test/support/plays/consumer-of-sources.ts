import type { DynamoDB } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import type { Pool } from 'pg';
import {
  DynamoDbParkingStore,
  OrderedConsumer,
  type ParkedKey,
  type ParkedRecord,
  type ParkingStore,
  type RecordContext,
  RecordDoneError,
} from '../../../lib/core/consumer';
import { AggregateBuilder } from '../../../lib/core/producer/aggregate-builder';
import { seededRandom } from '../../../lib/testing/seeded-random';
import { createKeyedTable } from '../keyed-table';
import { type HostileFacts, HostileProcess } from './hostile-process';
import { createParkingTable, PARKING_TABLE } from './parking-stores';

const EFFECTS_TABLE = 'Effects';

export async function createConsumerTables(dynamodb: DynamoDB): Promise<void> {
  await createParkingTable(dynamodb);
  await createKeyedTable(dynamodb, EFFECTS_TABLE, 'id');
}

/**
 * How the consumer stores its effects. `memory` has no transactions: a single process applies each effect once, but
 * several processes apply an effect at least once.
 */
const EFFECTS = ['once', 'once with a document client', 'once.postgres', 'positions', 'memory'] as const;

/** The table in which a user stores the numbers of `positions`. */
export const POSITIONS_TABLE =
  'CREATE TABLE applied (run text, series text, number text COLLATE "C", PRIMARY KEY (run, series))';
const INCREASE_NUMBER = `
INSERT INTO applied (run, series, number) VALUES ($1, $2, $3)
ON CONFLICT (run, series) DO UPDATE SET number = excluded.number WHERE applied.number < excluded.number`;
const KINDS = ['stream', 'stream and its fan-out consumer', 'table'] as const;
const SHAPES = ['records', 'aggregates', 'packs'] as const;
const KEYS = ['a', 'b', 'c'];
/** The prefix of a record format that only a later version of the library can read. */
const NEWER_FORMAT = Buffer.concat([Buffer.from('f3899ac2', 'hex'), Buffer.alloc(20)]);
const MAX_TURNS = 300;
const LONGEST_WAIT_MS = 15 * 60_000;

export interface SourcesFacts extends HostileFacts {
  readonly axes: readonly string[];
  again: number;
  parked: number;
  restarts: number;
  corrupt: number;
  copies: number;
}

interface Written {
  readonly key: string;
  readonly text: string;
}

/** A record of a shard, as its source stores it. */
interface Stored {
  readonly event: (arn: string) => object;
  readonly texts: readonly Written[];
  readonly isCorrupt: boolean;
}

interface Source {
  readonly arns: readonly string[];
  readonly shards: { readonly records: Stored[]; read: number }[];
}

/**
 * Processes read two or three sources with independent sequence numbers: streams, table streams, and one stream with
 * two event source mappings. Some records have the sequence of an outbox, and some aggregates need a newer version of
 * the consumer. Handlers fail, batches are delivered again, processes crash between any two calls, and replays run in
 * parallel. Throws unless each record is processed once, in the order of its source and key.
 */
export async function playConsumerOfSources({
  dynamodb,
  pool,
  seed,
}: {
  dynamodb: DynamoDB;
  pool?: Pool;
  seed: number;
}): Promise<SourcesFacts> {
  const random = seededRandom(seed);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)]!;
  const name = `sources ${seed}`;
  const effectsIn = pick(pool === undefined ? EFFECTS.filter((each) => !isInPostgres(each)) : EFFECTS);
  const facts: SourcesFacts = {
    axes: [effectsIn],
    ...{ crashes: 0, lostAnswers: 0, refusedCalls: 0, again: 0, parked: 0, restarts: 0, corrupt: 0, copies: 0 },
  };
  const axes = facts.axes as string[];
  /** Whether the `once` item is the first item of its transaction. */
  const isFirst = random() < 0.5;
  const poison = new Set<string>();
  const readable = new Map<string, Uint8Array>();
  const inMemory: Written[] = [];
  let isNewer = false;
  let now = 0;
  let hostility = pick([0, 0.02, 0.08]);

  let outboxNumber = 0;
  const sources = Array.from({ length: 2 + Math.floor(random() * 2) }, (_, index) => write(index));

  /** Writes the records of a source: 5 to 20 records in one or two shards. */
  function write(index: number): Source {
    const kind = pick(KINDS);
    const hasSequence = kind !== 'table' && random() < 0.5;
    const shape = kind === 'table' ? 'records' : hasSequence ? pick(['aggregates', 'packs'] as const) : pick(SHAPES);
    axes.push(`${kind}, ${shape}${hasSequence ? ', sequence' : ''}`);
    const shards = Array.from({ length: kind === 'table' ? 1 : 1 + Math.floor(random() * 2) }, () => ({
      records: [] as Stored[],
      read: 0,
    }));
    // A later source may have lower numbers.
    let number = Math.floor(random() * 1_000_000);
    let serial = 0;
    const shardOfKey = new Map(KEYS.map((key) => [key, Math.floor(random() * shards.length)]));
    for (let left = 5 + Math.floor(random() * 16); left > 0; left--) {
      const shard = Math.floor(random() * shards.length);
      const keys = KEYS.filter((key) => shardOfKey.get(key) === shard);
      if (keys.length === 0) continue;
      const count = shape === 'records' ? 1 : 1 + Math.floor(random() * 3);
      const keyOfAll = pick(keys);
      const texts = Array.from({ length: count }, (): Written => {
        const key = shape === 'packs' ? pick(keys) : keyOfAll;
        const text = `${index}${key}${String(serial++).padStart(3, '0')}`;
        if (random() < 0.1) poison.add(text);
        return { key, text };
      });
      const sequences = texts.map(() =>
        hasSequence ? { producerId: 'outbox', sequenceNumber: BigInt(outboxNumber++) } : undefined,
      );
      const isCorrupt = shape !== 'records' && random() < 0.1;
      if (isCorrupt) facts.corrupt += 1;
      const isCopied = hasSequence && !isCorrupt && random() < 0.15;
      if (isCopied) facts.copies += 1;
      for (let copy = 0; copy < (isCopied ? 2 : 1); copy++) {
        number += 1 + Math.floor(random() * 3);
        const sequenceNumber = String(number);
        const record = { shard, sequenceNumber, texts, sequences, shape, isCorrupt };
        shards[shard]!.records.push({
          event: kind === 'table' ? changeOf(record) : recordOf(record),
          texts,
          isCorrupt,
        });
      }
    }
    return { arns: arnsOf(kind, index), shards };
  }

  interface Record {
    shard: number;
    sequenceNumber: string;
    texts: readonly Written[];
    sequences: readonly ({ producerId: string; sequenceNumber: bigint } | undefined)[];
    shape: (typeof SHAPES)[number];
    isCorrupt: boolean;
  }

  function recordOf({ shard, sequenceNumber, texts, sequences, shape, isCorrupt }: Record) {
    const whole =
      shape === 'records'
        ? { partitionKey: texts[0]!.key, data: Buffer.from(texts[0]!.text) }
        : aggregateOf(texts, sequences, shape);
    let data = Buffer.from(whole.data);
    if (isCorrupt) {
      data = Buffer.concat([NEWER_FORMAT, Buffer.from(`${name} ${texts[0]!.text}`)]);
      readable.set(data.toString('hex'), whole.data);
    }
    return (eventSourceARN: string) => ({
      eventSource: 'aws:kinesis',
      eventID: `shardId-00000000000${shard}:${sequenceNumber}`,
      eventSourceARN,
      kinesis: { partitionKey: whole.partitionKey, sequenceNumber, data: data.toString('base64') },
    });
  }

  function changeOf({ sequenceNumber: SequenceNumber, texts }: Record) {
    const { key, text } = texts[0]!;
    const Keys = { id: { S: key } };
    const dynamodb = { Keys, NewImage: { ...Keys, text: { S: text } }, SequenceNumber };
    return (eventSourceARN: string) => ({ eventSource: 'aws:dynamodb', eventName: 'MODIFY', eventSourceARN, dynamodb });
  }

  /** A store for the newer version, which can read the records that an older version has parked. */
  function withFormat(store: DynamoDbParkingStore): ParkingStore {
    const records = store.records.bind(store);
    store.records = async function* (key: ParkedKey): AsyncGenerator<ParkedRecord> {
      for await (const record of records(key)) {
        const data = isNewer && record.isCorrupt ? readable.get(Buffer.from(record.data).toString('hex')) : undefined;
        yield data === undefined ? record : { ...record, data };
      }
    };
    return store;
  }

  /** Starts a process with a consumer. */
  function start(): { process: HostileProcess; consumer: OrderedConsumer } {
    facts.restarts += 1;
    const process = new HostileProcess(random, () => hostility, facts);
    const client = process.client(dynamodb);
    const consumer = new OrderedConsumer(
      async ({ data }, context) => {
        const raw = Buffer.from(data).toString();
        const text = raw.startsWith('{') ? JSON.parse(raw).dynamodb.NewImage.text.S : raw;
        if (poison.has(text)) throw new Error('poison');
        await apply({ key: text[1]!, text }, context, process);
        if (random() < 0.05) throw new Error('failed after its effect');
      },
      {
        parking: withFormat(new DynamoDbParkingStore(client, { tableName: PARKING_TABLE, consumer: name })),
        ...{ attempts: 2, concurrency: 3, maxTries: 1_000_000, maxAgeMs: Number.MAX_SAFE_INTEGER },
        ...{ clock: process.clock, random: () => 0, timeOfDay: () => now },
        onFailure: ({ isParked }) => {
          if (isParked) facts.parked += 1;
        },
      },
    );
    return { process, consumer };
  }

  async function apply({ key, text }: Written, context: RecordContext, process: HostileProcess): Promise<void> {
    const { once } = context;
    const id = `${name}/${key}`;
    const update = {
      ...{ TableName: EFFECTS_TABLE, UpdateExpression: 'SET texts = list_append(if_not_exists(texts, :none), :text)' },
      ...{ Key: { id }, ExpressionAttributeValues: { ':none': [] as string[], ':text': [text] } },
    };
    if (effectsIn === 'memory') inMemory.push({ key, text });
    else if (isInPostgres(effectsIn)) await inPostgres({ key, text }, context, process);
    else if (effectsIn === 'once with a document client') {
      const items = isFirst ? once([{ Update: update }]) : [{ Update: update }, ...once([])];
      const documents = DynamoDBDocument.from(dynamodb);
      await process.call(() => documents.transactWrite({ TransactItems: items as never }));
    } else {
      const ExpressionAttributeValues = { ':none': { L: [] }, ':text': { L: [{ S: text }] } };
      const low = { Update: { ...update, Key: { id: { S: id } }, ExpressionAttributeValues } };
      const TransactItems = isFirst ? once([low]) : [low, ...once<typeof low>([])];
      await process.call(() => dynamodb.transactWriteItems({ TransactItems }));
    }
  }

  async function inPostgres(
    { key, text }: Written,
    { once, positions }: RecordContext,
    process: HostileProcess,
  ): Promise<void> {
    const client = await pool!.connect();
    const mayCrash = () => process.mayCrash(() => client.release(true));
    try {
      await client.query('BEGIN');
      if (effectsIn === 'once.postgres') await once.postgres(client);
      for (const { series, number } of effectsIn === 'positions' ? positions : []) {
        const { rowCount } = await client.query(INCREASE_NUMBER, [name, series, number]);
        if (rowCount === 0) throw new RecordDoneError();
      }
      await mayCrash();
      await client.query('INSERT INTO effect (run, key, text) VALUES ($1, $2, $3)', [name, key, text]);
      await mayCrash();
      await client.query('COMMIT');
      await mayCrash();
    } catch (error) {
      await client.query('ROLLBACK');
      client.release();
      throw error;
    }
    client.release();
  }

  /** The processed records of a key in order. */
  async function effectsOf(key: string): Promise<string[]> {
    if (effectsIn === 'memory') return inMemory.filter((each) => each.key === key).map(({ text }) => text);
    if (isInPostgres(effectsIn)) {
      const { rows } = await pool!.query('SELECT text FROM effect WHERE run = $1 AND key = $2 ORDER BY id', [
        name,
        key,
      ]);
      return rows.map(({ text }) => text);
    }
    const { Item } = await dynamodb.getItem({
      TableName: EFFECTS_TABLE,
      Key: { id: { S: `${name}/${key}` } },
      ConsistentRead: true,
    });
    return Item?.texts?.L?.map(({ S }) => S!) ?? [];
  }

  let running = start();
  /** Runs a process. Returns undefined if it has crashed. */
  async function inProcess<T>(work: (consumer: OrderedConsumer) => Promise<T>): Promise<T | undefined> {
    // With effects in memory, a record takes effect exactly once only while the same process continues.
    if (effectsIn !== 'memory' && random() < 0.3) running = start();
    const { process, consumer } = running;
    const end = await process.run(work(consumer));
    if (end === undefined && running.process === process) running = start();
    return end;
  }

  async function deliver({ arns, shards }: Source): Promise<void> {
    const shard = pick(shards);
    const from = shard.read;
    const batch = shard.records.slice(from, from + 1 + Math.floor(random() * 5));
    if (batch.length === 0) return;
    const arn = pick(arns);
    const events = batch.map((record) => record.event(arn));
    const answer = await inProcess((consumer) =>
      consumer.handler({ Records: events }, { getRemainingTimeInMillis: () => 60_000 }),
    );
    if (answer === undefined) return;
    const [failure] = (answer as { batchItemFailures: { itemIdentifier: string }[] }).batchItemFailures;
    const done =
      failure === undefined
        ? batch.length
        : events.findIndex((event) => JSON.stringify(event).includes(`"${failure.itemIdentifier}"`));
    // Sometimes the batch response is lost, so that the same batch is delivered again.
    if (random() < 0.15) facts.again += 1;
    else shard.read = from + done;
  }

  const retry = () => {
    now += LONGEST_WAIT_MS;
    return inProcess((consumer) => consumer.retryParked());
  };
  const isRead = ({ shards }: Source) => shards.every(({ records, read }) => read >= records.length);
  for (let turn = 0; !sources.every(isRead); turn++) {
    if (turn > MAX_TURNS) throw new Error('the sources were not read completely');
    const [first, second] = [pick(sources), pick(sources)];
    const beside = random() < 0.3 && first !== second ? deliver(second) : undefined;
    await Promise.all([deliver(first), beside, random() < 0.3 ? retry() : undefined]);
    for (const text of [...poison]) if (random() < 0.1) poison.delete(text);
  }
  hostility = 0;
  poison.clear();
  isNewer = true;
  for (let turn = 0; (await retry())?.stillParked !== 0; turn++) {
    if (turn > MAX_TURNS) throw new Error('a key is still parked');
  }

  const applied = new Map<string, string[]>();
  for (const key of KEYS) applied.set(key, await effectsOf(key));
  for (const source of sources) for (const key of KEYS) check(source, key, applied.get(key)!);
  const all = [...applied.values()].flat();
  if (effectsIn !== 'memory' && new Set(all).size < all.length)
    throw new Error(`${axes}: duplicate effects in ${all.join(' ')}`);
  return facts;

  function check({ shards }: Source, key: string, effects: readonly string[]): void {
    const records = shards.flatMap((shard) => shard.records);
    const late = new Set(
      records.filter(({ isCorrupt }) => isCorrupt).flatMap(({ texts }) => texts.map(({ text }) => text)),
    );
    const written = [
      ...new Set(records.flatMap(({ texts }) => texts.filter((each) => each.key === key).map(({ text }) => text))),
    ];
    const found = [...new Set(effects.filter((text) => written.includes(text)))];
    const missing = written.filter((text) => !found.includes(text));
    if (missing.length > 0) throw new Error(`${axes.join('; ')}: ${key} lacks ${missing.join(' ')}`);
    // The consumer cannot read the keys of a corrupt record. It parks only this record, so later records with the same
    // keys are processed first.
    const inOrder = (texts: readonly string[]) => texts.filter((text) => !late.has(text)).join(' ');
    if (inOrder(found) !== inOrder(written))
      throw new Error(`${axes.join('; ')}: ${key} has ${inOrder(found)} instead of ${inOrder(written)}`);
  }
}

function isInPostgres(effectsIn: (typeof EFFECTS)[number]): boolean {
  return effectsIn === 'once.postgres' || effectsIn === 'positions';
}

function aggregateOf(
  texts: readonly Written[],
  sequences: readonly ({ producerId: string; sequenceNumber: bigint } | undefined)[],
  shape: 'aggregates' | 'packs',
): { partitionKey: string; data: Uint8Array } {
  const builder = new AggregateBuilder({ maxBytes: 2 ** 20, ...(shape === 'packs' && { groupName: texts[0]!.key }) });
  for (const [index, { key, text }] of texts.entries()) {
    const sequence = sequences[index];
    builder.tryAdd({ partitionKey: key, data: Buffer.from(text), ...(sequence && { sequence }) });
  }
  return builder.build();
}

/**
 * Returns the ARN or the ARNs of a source. Some sources have the same name in two Regions, and one table has two stream
 * labels.
 */
function arnsOf(kind: (typeof KINDS)[number], index: number): string[] {
  if (kind === 'table')
    return [`arn:aws:dynamodb:us-east-1:111122223333:table/T/stream/2026-01-0${index + 1}T00:00:00.000`];
  const stream = `arn:aws:kinesis:eu-west-${index + 1}:111122223333:stream/S`;
  return kind === 'stream' ? [stream] : [stream, `${stream}/consumer/C:179000000${index}`];
}
