import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { FunctionPool } from '../../bin/local/functions/function-pool';
import { lambdaEnvironment } from '../../bin/local/functions/lambda-environment';
import { STREAM_NAME } from '../../lib/core/contract/function-environment';

/** A server with network failures that no emulator has. The bundle, its SDK and the connections are real. */
let server: Server;
let behave: (response: ServerResponse, request: number, body: string) => void;
/** The number of PutRecords requests. */
let requests: number;
const pools: FunctionPool[] = [];

const records = (...partitionKeys: string[]) => partitionKeys.map((partitionKey) => ({ partitionKey, data: 'x' }));

function succeed(response: ServerResponse, body: string): void {
  const { Records } = JSON.parse(body) as { Records: unknown[] };
  response.setHeader('content-type', 'application/x-amz-json-1.1');
  const results = Records.map((_, index) => ({ ShardId: 's', SequenceNumber: String(index) }));
  response.end(JSON.stringify({ FailedRecordCount: 0, Records: results }));
}

/** Runs the bundle as Lambda does, and ends it after `timeoutSeconds`. */
async function invoke(event: unknown, timeoutSeconds: number) {
  const definition = {
    path: 'Test/Producer',
    name: 'producer',
    arn: 'arn:aws:lambda:us-east-1:000000000000:function:producer',
    runtime: 'nodejs24.x',
    handler: 'index.handler',
    codeDirectory: join(__dirname, '..', '..', 'dist', 'lambda', 'producer'),
    environment: { [STREAM_NAME]: 'Events' },
    timeoutSeconds,
    memoryMb: 512,
    unset: {},
    layers: [],
    missingLayers: [],
  };
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const endpoints = { kinesis: endpoint, dynamodb: endpoint, lambda: endpoint };
  const pool = new FunctionPool(definition, lambdaEnvironment(definition, endpoints), undefined);
  pools.push(pool);
  const { payload, functionError } = await pool.invoke(JSON.stringify(event));
  return { functionError, result: JSON.parse(payload) };
}

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const body = await text(request);
    // The server rejects ListShards, and the producer works without a shard map.
    if (request.headers['x-amz-target'] !== 'Kinesis_20131202.PutRecords') {
      response.writeHead(400).end();
      return;
    }
    requests += 1;
    behave(response, requests, body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});

beforeEach(() => {
  requests = 0;
});

afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.stop()));
  server.close();
  server.closeAllConnections();
});

describe('the producer function on a failing network', () => {
  test('retries the records of a request if the response is incomplete', async () => {
    behave = (response, request, body) => {
      if (request > 1) return succeed(response, body);
      response.writeHead(200, { 'content-length': 1_000 }).write('{"Records"');
      setTimeout(() => response.destroy(), 20);
    };
    const { result } = await invoke({ records: records('a', 'b') }, 20);
    expect(result).toMatchObject({ failedRecordCount: 0, records: [{ attempts: 2 }, { attempts: 2 }] });
  });

  test.each<[string, (response: ServerResponse) => void]>([
    ['never responds', () => {}],
    ['stalls within its response', (response) => void response.writeHead(200, { 'content-length': 1_000 }).write('{')],
  ])('responds before its timeout if the service %s', async (_, behaviour) => {
    behave = behaviour;
    const { result, functionError } = await invoke({ records: records('a', 'a') }, 3);
    expect(functionError).toBeUndefined();
    expect(result).toMatchObject({
      failedRecordCount: 2,
      records: [
        { errorCode: 'RECORD_REJECTED', mayHaveBeenWritten: true },
        // The invocation stopped before it knew the outcome of the record in flight.
        { errorCode: 'OUT_OF_TIME', errorMessage: expect.stringContaining('not sent') },
      ],
    });
    expect(requests).toBe(1);
  });

  test('rejects more than 10,000 records before the first put', async () => {
    const { result } = await invoke({ records: records(...Array<string>(10_001).fill('a')) }, 10);
    expect(result).toMatchObject({
      errorType: 'InvalidEventError',
      errorMessage: '[INVALID_EVENT] records must be at most 10000 records, got 10001',
    });
    expect(requests).toBe(0);
  });
});
