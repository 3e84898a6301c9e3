import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { Kinesis } from '@aws-sdk/client-kinesis';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import {
  lightPutClient,
  OrderedProducer,
  type OrderedProducerOptions,
  type ProducerRecord,
  type PutRecordsClient,
} from '../../../lib/core';

export const RECORDS = 100_000;
export const RECORD_BYTES = 93;
export const KEYS = 5_000;
const BATCH = 500;
const AT_ONCE = 4;

type Approach = (client: PutRecordsClient, records: readonly ProducerRecord[]) => Promise<unknown>;

export const APPROACHES: readonly [name: string, Approach][] = [
  ['batches of 500 records', batches],
  ['`OrderedProducer`', ours({})],
  ['`OrderedProducer`, with a promise for each `put`', puts],
  ['`OrderedProducer`, aggregation', ours({ aggregation: true })],
  ['`OrderedProducer`, packed', ours({ aggregation: 'packed' })],
  ['`OrderedProducer`, packed, with a sequence', ours({ aggregation: 'packed', sequence: true })],
  ['`OrderedProducer`, with a sequence', ours({ sequence: true })],
];

/** How the bench sends requests: with the SDK, with the light client, or with a socket that sends prepared requests. */
export const CARRIERS = ['SDK', 'light', 'made before'] as const;

/**
 * Runs one approach with one way to send requests, in its own process. For each message, it puts all records, and responds with the
 * microseconds of processor time for each record.
 */
export async function serveApproach(name: string, carrier: string, port: string): Promise<void> {
  const approach = APPROACHES.find(([each]) => each === name)![1];
  const records = Array.from({ length: RECORDS }, (_, index) => ({
    partitionKey: `key-${index % KEYS}`,
    data: Buffer.alloc(RECORD_BYTES, index),
  }));
  const requestHandler = new NodeHttpHandler();
  const kinesis = new Kinesis({
    region: 'us-east-1',
    endpoint: `http://127.0.0.1:${port}`,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    maxAttempts: 1,
    requestHandler,
  });
  const { putRecords } = carrier === 'SDK' ? kinesis : lightPutClient(kinesis);
  // Without ListShards, the producer does not limit its rate for each shard. The stream of this bench accepts every
  // record.
  const client: PutRecordsClient = { putRecords: putRecords.bind(kinesis) };
  let put = (): Promise<unknown> => approach(client, records);
  if (carrier === 'made before') {
    const bodies = await bodiesSentBy(put, requestHandler);
    put = () => sendBodies(Number(port), bodies);
  }
  process.on('message', async () => {
    // Puts the records once before the measurement, because V8 discards compiled code while a process waits, and
    // compiles the code again.
    await put();
    const before = process.cpuUsage();
    await put();
    const { user, system } = process.cpuUsage(before);
    process.send!((user + system) / RECORDS);
  });
}

async function bodiesSentBy(put: () => Promise<unknown>, requestHandler: NodeHttpHandler): Promise<unknown[]> {
  const bodies: unknown[] = [];
  const handle = requestHandler.handle.bind(requestHandler);
  requestHandler.handle = (each, options) => {
    bodies.push(each.body);
    return handle(each, options);
  };
  await put();
  return bodies;
}

/** The minimum work of a client: sends the bytes and reads the response. */
async function sendBodies(port: number, bodies: readonly unknown[]): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  await sideBySide(bodies, async (body) => {
    const outgoing = request({ port, host: '127.0.0.1', method: 'POST', agent });
    outgoing.end(body);
    const [response] = await once(outgoing, 'response');
    await buffer(response);
  });
  agent.destroy();
}

async function batches(client: PutRecordsClient, records: readonly ProducerRecord[]): Promise<void> {
  const starts = Array.from({ length: records.length / BATCH }, (_, index) => index * BATCH);
  await sideBySide(starts, async (start) => {
    const batch = records.slice(start, start + BATCH);
    const Records = batch.map(({ partitionKey, data }) => ({ PartitionKey: partitionKey, Data: data }));
    const { FailedRecordCount } = await client.putRecords({ StreamName: 'Events', Records });
    if (FailedRecordCount !== 0) throw new Error(`the stream of this bench rejected ${FailedRecordCount} records`);
  });
}

/** Runs the work for each item, with the same concurrency as the producers. */
async function sideBySide<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < items.length) await work(items[next++]!);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

const OPTIONS = { streamName: 'Events', maxRequestsInFlight: AT_ONCE };

function ours(options: Partial<OrderedProducerOptions>): Approach {
  return (client, records) => new OrderedProducer(client, { ...OPTIONS, ...options }).putAll(records);
}

async function puts(client: PutRecordsClient, records: readonly ProducerRecord[]): Promise<void> {
  const producer = new OrderedProducer(client, OPTIONS);
  for (let start = 0; start < records.length; start += 10_000) {
    await Promise.all(records.slice(start, start + 10_000).map((record) => producer.put(record)));
  }
}
