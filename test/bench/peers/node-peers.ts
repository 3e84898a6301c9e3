import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Kinesis } from '@aws-sdk/client-kinesis';
import type { OrderedProducerOptions } from '../../../lib/core/producer';
import { STREAM } from './endpoint';
import { type WorkRecord, workRecords } from './workload';

/** With this argument, the program of the bench must call `runNodePeer`. */
export const NODE_PEER = 'node-peer';

/** Puts records, and resolves when the outcome of each record is known. */
type Put = (records: Iterable<WorkRecord>) => Promise<unknown>;

/** The endpoint, and the folder of the npm packages that the bench has downloaded. */
interface Surroundings {
  readonly port: number;
  readonly packages: string;
}

const REGION = 'us-east-1';
const CREDENTIALS = { accessKeyId: 'bench', secretAccessKey: 'bench' };
const BATCH = 500;
const AT_ONCE = 4;
/** The number of concurrent `PutRecord` calls. */
const CALLS_AT_ONCE = 64;
const RESEND_AFTER_MS = 100;

/** Each peer imports its packages only when it runs, so that they do not use memory of another peer. */
const NODE_PEERS: Record<string, (surroundings: Surroundings) => Promise<Put>> = {
  'sdk-put-records': async (surroundings) => {
    const kinesis = await sdkClient(surroundings);
    return async (records) => {
      await inTurns(inBatches(records), AT_ONCE, (batch) => resendUntilStored(kinesis, batch));
    };
  },
  'sdk-put-record': async (surroundings) => {
    const kinesis = await sdkClient(surroundings, 10);
    return async (records) => {
      const lanes = new Map<string, WorkRecord[]>();
      for (const record of records) {
        const lane = lanes.get(record.partitionKey);
        if (lane === undefined) lanes.set(record.partitionKey, [record]);
        else lane.push(record);
      }
      await inTurns(lanes.values(), CALLS_AT_ONCE, async (lane) => {
        for (const { partitionKey, data } of lane) {
          await kinesis.putRecord({ StreamName: STREAM, PartitionKey: partitionKey, Data: data });
        }
      });
    };
  },
  'ours-plain': ours({}),
  'ours-per-key': ours({ aggregation: true }),
  'ours-packed': ours({ aggregation: 'packed' }),
  'ours-packed-sequence': ours({ aggregation: 'packed', sequence: true }),
  'npm-kinesis': async ({ port, packages }) => {
    const { stream } = createRequire(packages)('kinesis');
    return async (records) => {
      const sink = stream({ name: STREAM, host: '127.0.0.1', port, region: REGION, credentials: CREDENTIALS });
      for (const { partitionKey, data } of records) {
        await new Promise<void>((resolve, reject) => {
          sink.once('error', reject);
          sink.write({ PartitionKey: partitionKey, Data: data }, () => {
            sink.off('error', reject);
            resolve();
          });
        });
      }
    };
  },
  'npm-kinesis-helpers': async (surroundings) => {
    const require = createRequire(surroundings.packages);
    const { KinesisRetrier } = require('@shutterstock/kinesis-helpers');
    const { PutRecordsCommand } = await import('@aws-sdk/client-kinesis');
    const retrier = new KinesisRetrier({ kinesisClient: await sdkClient(surroundings) });
    return (records) =>
      inTurns(inBatches(records), AT_ONCE, (batch) =>
        retrier.send(new PutRecordsCommand({ StreamName: STREAM, Records: batch.map(entryOf) })),
      );
  },
  'npm-aws-kinesis-agg': async (surroundings) => {
    const { aggregate } = createRequire(surroundings.packages)('aws-kinesis-agg');
    const kinesis = await sdkClient(surroundings, 10);
    return (records) =>
      new Promise((resolve, reject) => {
        const send = (record: AggregateOfAgg, done: (error?: unknown) => void) => {
          const { partitionKey: PartitionKey, data: Data, ExplicitHashKey } = record;
          const isSet = ExplicitHashKey !== undefined && ExplicitHashKey !== '';
          kinesis
            .putRecord({ StreamName: STREAM, PartitionKey, Data, ...(isSet && { ExplicitHashKey }) })
            .then(() => done(), done);
        };
        aggregate([...records], send, resolve, reject);
      });
  },
};

interface AggregateOfAgg {
  partitionKey: string;
  data: Uint8Array;
  ExplicitHashKey?: string;
}

function ours(options: Partial<OrderedProducerOptions>) {
  return async (surroundings: Surroundings): Promise<Put> => {
    const { OrderedProducer } = await import('../../../lib/core/producer/index.js');
    const kinesis = await sdkClient(surroundings);
    return async (records) => {
      const producer = new OrderedProducer(kinesis, { streamName: STREAM, ...options });
      await producer.putAll(records);
      await producer.close();
    };
  };
}

async function sdkClient({ port }: Surroundings, maxAttempts = 3): Promise<Kinesis> {
  const { Agent } = await import('node:https');
  const { Kinesis } = await import('@aws-sdk/client-kinesis');
  const { NodeHttpHandler } = await import('@smithy/node-http-handler');
  return new Kinesis({
    endpoint: `https://127.0.0.1:${port}`,
    region: REGION,
    credentials: CREDENTIALS,
    maxAttempts,
    requestHandler: new NodeHttpHandler({
      httpsAgent: new Agent({ keepAlive: true, maxSockets: CALLS_AT_ONCE, rejectUnauthorized: false }),
    }),
  });
}

const entryOf = ({ partitionKey, data }: WorkRecord) => ({ PartitionKey: partitionKey, Data: data });

/** The usual loop around `PutRecords`: sends the failed entries again after a pause, until all entries are stored. */
async function resendUntilStored(kinesis: Kinesis, batch: readonly WorkRecord[]): Promise<void> {
  let unsent = batch.map(entryOf);
  for (;;) {
    const { FailedRecordCount, Records } = await kinesis.putRecords({ StreamName: STREAM, Records: unsent });
    if (FailedRecordCount === 0) return;
    unsent = unsent.filter((_, index) => Records![index]!.ErrorCode !== undefined);
    await sleep(RESEND_AFTER_MS);
  }
}

function* inBatches(records: Iterable<WorkRecord>): Generator<WorkRecord[]> {
  let batch: WorkRecord[] = [];
  for (const record of records) {
    if (batch.push(record) < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** Runs the work for each item, with limited concurrency. */
async function inTurns<T>(items: Iterable<T>, atOnce: number, work: (item: T) => Promise<unknown>): Promise<void> {
  const iterator = items[Symbol.iterator]();
  const worker = async () => {
    for (let next = iterator.next(); !next.done; next = iterator.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** The process of a Node.js peer. It reads lines "FIRST COUNT" and prints "done" after each line, until the input ends. */
export async function runNodePeer(name: string, port: number, packages: string): Promise<void> {
  const put = await NODE_PEERS[name]!({ port, packages });
  for await (const line of createInterface({ input: process.stdin })) {
    const [first, count] = line.split(' ').map(Number) as [number, number];
    await put(workRecords(first, count));
    console.log('done');
  }
  process.exit();
}
