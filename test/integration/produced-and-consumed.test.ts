import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import { build } from 'esbuild';
import type { LocalFunction } from '../../bin/local/assembly/deployment-plan';
import { type LocalClients, localClients } from '../../bin/local/emulators/clients';
import { startDynamoDbEmulator } from '../../bin/local/emulators/dynamodb-emulator';
import type { Emulator } from '../../bin/local/emulators/emulator-thread';
import { startKinesisEmulator } from '../../bin/local/emulators/kinesis-emulator';
import { FunctionPool } from '../../bin/local/functions/function-pool';
import { lambdaEnvironment } from '../../bin/local/functions/lambda-environment';
import { deaggregate, handOver, OrderedProducer, parseFence, type UserRecord, uniformRanges } from '../../lib/core';
import {
  AGGREGATION,
  CONSUMER_NAME,
  PARKING_TABLE_NAME,
  SEQUENCE,
  STREAM_NAME,
} from '../../lib/core/contract/function-environment';
import { seededRandom } from '../../lib/testing/seeded-random';
import { FAULTS, type FaultyKinesis, startFaultyKinesis } from '../support/fakes/faulty-kinesis';
import { createKeyedTable } from '../support/keyed-table';
import { createParkingTable, PARKING_TABLE } from '../support/plays/parking-stores';
import { withoutDuplicates } from '../support/without-duplicates';

/**
 * The producer's bundle and the example's, with real emulators, and between the producer and its stream a network that
 * loses, delays and fails every other request.
 */

const ROOT = join(__dirname, '../..');
const FILE = 'shared/data/commits.ndjson.gz';
const path = join(ROOT, '..', FILE);
const found = existsSync(path);
if (!found)
  console.warn(`a part of produced-and-consumed.test.ts is skipped: there is no ../${FILE} beside this checkout`);

const STREAM = 'Events';
const TABLE = 'Orders';
const SEED = 20_260_101;
const MINUTE = 60_000;
const CONSUMER_ENVIRONMENT = {
  ORDERS_TABLE_NAME: TABLE,
  [PARKING_TABLE_NAME]: PARKING_TABLE,
  [CONSUMER_NAME]: 'orders',
};

interface KinesisRecord {
  shardId: string;
  partitionKey: string;
  sequenceNumber: string;
  data: Buffer;
}

let kinesis: Emulator;
let dynamodb: Emulator;
let network: FaultyKinesis;
let clients: LocalClients;
let bundles: string;
let producer: FunctionPool;
let consumer: FunctionPool;

/** A function as deployed, its timeout that of the constructs. */
function functionPool(name: string, codeDirectory: string, environment: Record<string, string>): FunctionPool {
  const definition: LocalFunction = {
    path: `Test/${name}`,
    name,
    arn: `arn:aws:lambda:us-east-1:000000000000:function:${name}`,
    runtime: 'nodejs24.x',
    handler: 'index.handler',
    codeDirectory,
    environment,
    unset: {},
    timeoutSeconds: 60,
    memoryMb: 512,
  };
  const endpoints = { kinesis: network.endpoint, dynamodb: dynamodb.endpoint, lambda: network.endpoint };
  return new FunctionPool(definition, lambdaEnvironment(definition, endpoints));
}

async function invoke<T>(pool: FunctionPool, event: unknown): Promise<T> {
  const { payload, functionError } = await pool.invoke(JSON.stringify(event));
  if (functionError !== undefined) throw new Error(payload);
  return JSON.parse(payload);
}

/** Everything in the stream, shard by shard. */
async function shards(): Promise<KinesisRecord[][]> {
  const { Shards = [] } = await clients.kinesis.listShards({ StreamName: STREAM });
  return Promise.all(Shards.map(({ ShardId }) => recordsOf(ShardId!)));
}

async function recordsOf(ShardId: string): Promise<KinesisRecord[]> {
  const records: KinesisRecord[] = [];
  const start = await clients.kinesis.getShardIterator({
    StreamName: STREAM,
    ShardId,
    ShardIteratorType: 'TRIM_HORIZON',
  });
  for (let iterator = start.ShardIterator; iterator !== undefined; ) {
    const { Records = [], NextShardIterator } = await clients.kinesis.getRecords({ ShardIterator: iterator });
    for (const { PartitionKey, SequenceNumber, Data } of Records) {
      records.push({
        shardId: ShardId,
        partitionKey: PartitionKey!,
        sequenceNumber: SequenceNumber!,
        data: Buffer.from(Data!),
      });
    }
    iterator = Records.length === 0 ? undefined : NextShardIterator;
  }
  return records;
}

const textOf = ({ data }: { data: Uint8Array }): string => Buffer.from(data).toString();

function byKey(records: readonly UserRecord[]): Record<string, string[]> {
  const groups: Record<string, string[]> = {};
  for (const record of records) groups[record.partitionKey] = [...(groups[record.partitionKey] ?? []), textOf(record)];
  return groups;
}

interface BatchResponse {
  batchItemFailures: { itemIdentifier: string }[];
}

function eventOf(batch: readonly KinesisRecord[]): object {
  return {
    Records: batch.map(({ shardId, partitionKey, sequenceNumber, data }) => ({
      eventSource: 'aws:kinesis',
      eventID: `${shardId}:${sequenceNumber}`,
      kinesis: { partitionKey, sequenceNumber, data: data.toString('base64') },
    })),
  };
}

/**
 * Delivers a shard to the consumer as Lambda does, each batch from where the last one failed, beside other shards. Some
 * invocations end with their process, and of some the answer is lost, so that the batch is delivered again.
 */
async function consumeWithCrashes(records: readonly KinesisRecord[], random: () => number): Promise<void> {
  for (let start = 0; start < records.length; ) {
    const batch = records.slice(start, start + 8);
    const fate = random();
    if (fate < 0.1) {
      const doomed = functionPool('doomed', bundles, CONSUMER_ENVIRONMENT);
      const invocation = invoke(doomed, eventOf(batch)).catch(() => {});
      await sleep(1_000 * random());
      await doomed.stop();
      await invocation;
      continue;
    }
    const { batchItemFailures } = await invoke<BatchResponse>(consumer, eventOf(batch));
    if (fate < 0.25) continue;
    const failed = batch.findIndex(({ sequenceNumber }) => sequenceNumber === batchItemFailures[0]?.itemIdentifier);
    start += failed === -1 ? batch.length : failed;
  }
}

/** What was applied to each key, in order. */
async function applied(): Promise<Record<string, string[]>> {
  const { Items = [] } = await DynamoDBDocument.from(clients.dynamodb).scan({ TableName: TABLE });
  return Object.fromEntries(Items.map(({ customer, orders }) => [customer, orders]));
}

beforeAll(async () => {
  bundles = mkdtempSync(join(tmpdir(), 'produced-and-consumed-'));
  [kinesis, dynamodb] = await Promise.all([startKinesisEmulator(), startDynamoDbEmulator()]);
  await build({
    entryPoints: [join(ROOT, 'examples/ordered-consumer/handler.ts')],
    outfile: join(bundles, 'index.js'),
    bundle: true,
    platform: 'node',
    target: 'node20',
    alias: { 'cdk-even-shards/consumer': join(ROOT, 'lib/core/consumer/index.ts') },
  });
}, MINUTE);

beforeEach(async () => {
  network = await startFaultyKinesis(kinesis.endpoint, SEED);
  clients = localClients({ kinesis: kinesis.endpoint, dynamodb: dynamodb.endpoint, lambda: kinesis.endpoint });
  await clients.kinesis.createStream({ StreamName: STREAM, ShardCount: 4 });
  await createKeyedTable(clients.dynamodb, TABLE, 'customer');
  await createParkingTable(clients.dynamodb);
  const environment = { [STREAM_NAME]: STREAM, [AGGREGATION]: 'true', [SEQUENCE]: 'true' };
  producer = functionPool('producer', join(ROOT, 'dist/lambda/producer'), environment);
  consumer = functionPool('consumer', bundles, CONSUMER_ENVIRONMENT);
}, MINUTE);

afterEach(async () => {
  await Promise.all([producer?.stop(), consumer?.stop()]);
  await network?.stop();
  await clients?.kinesis.deleteStream({ StreamName: STREAM });
  for (const TableName of [TABLE, PARKING_TABLE]) await clients?.dynamodb.deleteTable({ TableName });
});

afterAll(async () => {
  await Promise.all([kinesis?.stop(), dynamodb?.stop()]);
  rmSync(bundles, { recursive: true, force: true });
});

/** What is in the stream now: all of it, and what is left of it without second copies. */
async function landed(): Promise<{ shards: KinesisRecord[][]; all: UserRecord[]; once: UserRecord[] }> {
  await network.stop();
  const content = await shards();
  const all = content.flat().flatMap((stored) => deaggregate(stored));
  return { shards: content, all, once: withoutDuplicates(all) };
}

(found ? test : test.skip)(
  `commits keep the order of their repository, each once, through every fault of the network (seed ${SEED})`,
  async () => {
    const lines = gunzipSync(readFileSync(path)).toString().trim().split('\n');
    const commits = lines.map((line) => ({ line, ...(JSON.parse(line) as { repository: string; sequence: number }) }));
    // By their number in their repository, so that those of all repositories are mixed.
    commits.sort((a, b) => a.sequence - b.sequence);
    const toSend = commits.map(({ repository, line }) => ({ partitionKey: repository, data: line }));
    const events: typeof toSend = [];
    // How many requests it takes to send them depends on the machine, and so does what befalls them.
    while (events.length < 4_000 || FAULTS.some((fault) => network.faults[fault] === 0)) {
      const records = toSend.splice(0, 160);
      expect(records.length).toBeGreaterThan(0);
      const response = await invoke<{ failedRecordCount: number }>(producer, { records });
      expect(response.failedRecordCount).toBe(0);
      events.push(...records);
    }

    const { all, once } = await landed();
    const sent: Record<string, string[]> = {};
    for (const { partitionKey, data } of events) sent[partitionKey] = [...(sent[partitionKey] ?? []), data];
    expect(byKey(once)).toEqual(sent);
    // The network did what it is there for: copies are in the stream, and some of them late.
    expect(all.length).toBeGreaterThan(events.length);
    expect(byKey(all)).not.toEqual(sent);
  },
  4 * MINUTE,
);

test(
  `records of keys that move from shard to shard are applied in order, each record once, through crashes and replays (seed ${SEED})`,
  async () => {
    const random = seededRandom(SEED);
    const hashKeys = uniformRanges(4).map(({ startingHashKey }) => startingHashKey + 1n);
    const { endpoint } = network;
    const faulty = localClients({ kinesis: endpoint, dynamodb: endpoint, lambda: endpoint }).kinesis;
    const moving = new OrderedProducer(faulty, { streamName: STREAM, aggregation: true, sequence: true });
    const keys = ['a', 'b', 'c', 'd'];
    const sent = Object.fromEntries(keys.map((key) => [key, [] as string[]]));
    const write = async (partitionKey: string, first: number): Promise<void> => {
      for (let step = 0; step < 3; step++) {
        const [explicitHashKey, toHashKey] = [hashKeys[(first + step) % 4]!, hashKeys[(first + step + 1) % 4]!];
        const burst = Array.from({ length: 10 }, async () => {
          const orderId = `${partitionKey}${sent[partitionKey]!.length}`;
          sent[partitionKey]!.push(orderId);
          await moving.put({ partitionKey, explicitHashKey, data: Buffer.from(JSON.stringify({ orderId })) });
        });
        await Promise.all(burst);
        await handOver(
          moving,
          { partitionKeys: [partitionKey], fromHashKey: explicitHashKey, toHashKey },
          async () => {},
        );
      }
    };
    await Promise.all(keys.map((key, index) => write(key, index)));
    await moving.close();

    const { all, shards: content } = await landed();
    expect(all.filter(({ data }) => parseFence(data) !== undefined).length).toBeGreaterThanOrEqual(2 * 3 * keys.length);
    await Promise.all(content.map((records) => consumeWithCrashes(records, random)));
    expect(await applied()).toEqual(sent);
    // Some readers waited for a move, and every move has ended.
    const { Items = [] } = await DynamoDBDocument.from(clients.dynamodb).scan({ TableName: PARKING_TABLE });
    const moves = Items.filter(({ part }) => part === 'move');
    const waits = moves.map(({ waitedMs = 0 }) => waitedMs as number);
    expect(Math.max(...waits)).toBeGreaterThan(0);
    expect(Math.max(...waits)).toBeLessThan(MINUTE);
    expect(moves.every(({ hasEnded }) => hasEnded)).toBe(true);

    // Another reading of everything changes nothing.
    await Promise.all(content.map((records) => consumeWithCrashes(records, () => 1)));
    expect(await applied()).toEqual(sent);
  },
  4 * MINUTE,
);
