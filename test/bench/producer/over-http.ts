import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Kinesis } from '@aws-sdk/client-kinesis';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import {
  lightPutClient,
  OrderedProducer,
  type OrderedProducerOptions,
  type ProducerRecord,
  type PutRecordsClient,
} from '../../../lib/core';
import { writeGuideTable } from '../../support/guide-table';
import { rounded } from '../../support/tables/producer/table';

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

const APPROACHES: [string, Approach][] = [
  ['batches of 500 records', batches],
  ['`OrderedProducer`', ours({})],
  ['`OrderedProducer`, with a promise for each `put`', puts],
  ['`OrderedProducer`, aggregation', ours({ aggregation: true })],
  ['`OrderedProducer`, packed', ours({ aggregation: 'packed' })],
  ['`OrderedProducer`, packed, with a sequence', ours({ aggregation: 'packed', sequence: true })],
  ['`OrderedProducer`, with a sequence', ours({ sequence: true })],
];

/** What order costs over HTTP, in processor time of the process that puts, against batches by the SDK's client. */
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
  const light = lightPutClient(kinesis);
  // Without ListShards no shard is paced: the stream of this bench takes everything.
  const clients: PutRecordsClient[] = [
    { putRecords: (input, options) => kinesis.putRecords(input, options) },
    { putRecords: (input, options) => light.putRecords(input, options) },
  ];
  const records = Array.from({ length: RECORDS }, (_, index) => ({
    partitionKey: `key-${index % KEYS}`,
    data: Buffer.alloc(93, index),
  }));
  const samples = APPROACHES.map(() => clients.map((): number[] => []));
  // The first rounds are to warm up.
  for (let round = -2; round < ROUNDS; round++) {
    for (const [index, [, approach]] of APPROACHES.entries()) {
      for (const [column, client] of clients.entries()) {
        global.gc!();
        const before = process.cpuUsage();
        await approach(client, records);
        const { user, system } = process.cpuUsage(before);
        if (round >= 0) samples[index]![column]!.push((user + system) / RECORDS);
      }
    }
  }
  kinesis.destroy();
  server.kill();
  const times = samples.map((columns) => columns.map((all) => all.sort((a, b) => a - b)[ROUNDS >> 1]!));
  const baseline = times[0]![0]!;
  console.log(
    `${RECORDS} records of 93 bytes, ${KEYS} keys, over HTTP on loopback; the middle of ${ROUNDS} rounds in turn\n`,
  );
  writeGuideTable(
    'docs/guides/ordered-producer.md',
    'npm run bench producer over-http',
    ['', "µs a record, the SDK's client", 'ratio', 'µs a record, the light client', 'ratio'],
    APPROACHES.map(([name], index) => [
      name,
      ...times[index]!.flatMap((time) => [rounded(time, 2), `${rounded(time / baseline, 2)} x`]),
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
      const { FailedRecordCount } = await client.putRecords({ StreamName: 'Events', Records });
      if (FailedRecordCount !== 0) throw new Error(`the stream of this bench refused ${FailedRecordCount} records`);
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
