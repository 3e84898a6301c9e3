import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Kinesis } from '@aws-sdk/client-kinesis';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import {
  OrderedProducer,
  type OrderedProducerOptions,
  type ProducerRecord,
  type PutRecordsClient,
} from '../../../lib/core';
import { printTable, rounded } from '../../support/tables/producer/table';

const RECORDS = 40_000;
const KEYS = 5_000;
const ROUNDS = 7;
const BATCH = 500;
const AT_ONCE = 4;

/** A stream that takes everything, in a process of its own, so that its processor time is not counted. */
const SERVER = `
  const server = require('node:http').createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('latin1');
      const entries = body.split('"PartitionKey":').length - 1;
      const result = '{"SequenceNumber":"49590338271490256608559692538361571095921575989136588898","ShardId":"shardId-000000000000"}';
      const answer = '{"FailedRecordCount":0,"Records":[' + Array(entries).fill(result) + ']}';
      response.writeHead(200, { 'content-type': 'application/x-amz-json-1.1', 'content-length': Buffer.byteLength(answer) });
      response.end(answer);
    });
  });
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
`;

type Approach = (client: PutRecordsClient, records: readonly ProducerRecord[]) => Promise<unknown>;

const BASELINE = "the SDK's PutRecords, 500 records each";

const APPROACHES: Record<string, Approach> = {
  [BASELINE]: batches,
  plain: ours({}),
  'put by put, with promises': puts,
  'aggregation per key': ours({ aggregation: true }),
  packed: ours({ aggregation: 'packed' }),
  'packed, with a sequence': ours({ aggregation: 'packed', sequence: true }),
  'a sequence': ours({ sequence: true }),
};

/** What order costs over HTTP, in processor time of the process that puts, against the SDK's own batches. */
export async function benchOverHttp(): Promise<void> {
  const server = spawn(process.execPath, ['-e', SERVER], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = await once(createInterface({ input: server.stdout }), 'line');
  const kinesis = new Kinesis({
    region: 'us-east-1',
    endpoint: `http://127.0.0.1:${port}`,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    maxAttempts: 1,
    requestHandler: new NodeHttpHandler(),
  });
  // Without ListShards no shard is paced: the stream of this bench takes everything.
  const client: PutRecordsClient = { putRecords: (input, options) => kinesis.putRecords(input, options) };
  const records = Array.from({ length: RECORDS }, (_, index) => ({
    partitionKey: `key-${index % KEYS}`,
    data: Buffer.alloc(93, index),
  }));
  const samples = new Map(Object.keys(APPROACHES).map((name) => [name, [] as number[]]));
  // The first rounds are to warm up.
  for (let round = -2; round < ROUNDS; round++) {
    for (const [name, approach] of Object.entries(APPROACHES)) {
      global.gc!();
      const before = process.cpuUsage();
      await approach(client, records);
      const { user, system } = process.cpuUsage(before);
      if (round >= 0) samples.get(name)!.push((user + system) / RECORDS);
    }
  }
  kinesis.destroy();
  server.kill();
  const middle = (name: string) => samples.get(name)!.sort((a, b) => a - b)[ROUNDS >> 1]!;
  console.log(
    `${RECORDS} records of 93 bytes, ${KEYS} keys, over HTTP on loopback; the middle of ${ROUNDS} rounds in turn\n`,
  );
  printTable(
    ['', 'µs of CPU a record', 'ratio'],
    Object.keys(APPROACHES).map((name) => [
      name,
      rounded(middle(name), 2),
      `${rounded(middle(name) / middle(BASELINE), 2)} x`,
    ]),
  );
}

async function batches(client: PutRecordsClient, records: readonly ProducerRecord[]): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < records.length) {
      const batch = records.slice(next, next + BATCH);
      next += BATCH;
      const Records = batch.map(({ partitionKey, data }) => ({ PartitionKey: partitionKey, Data: data }));
      await client.putRecords({ StreamName: 'Events', Records });
    }
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
