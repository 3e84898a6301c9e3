import type { ServerResponse } from 'node:http';
import { STREAM_NAME } from '../../lib/core/contract/function-environment';
import { LambdaFunction } from '../support/lambda-function';
import { type LoopbackServer, putRecordsOutput, sendJson, startServer } from '../support/loopback-server';

/** A server with network failures that no emulator has. The bundle, its SDK and the connections are real. */
let server: LoopbackServer;
let producer: LambdaFunction;
let behave: (response: ServerResponse, request: number, body: string) => void;
/** The number of PutRecords requests. */
let requests: number;

const records = (...partitionKeys: string[]) => partitionKeys.map((partitionKey) => ({ partitionKey, data: 'x' }));

beforeAll(async () => {
  server = await startServer((response, body, { headers }) => {
    // The server rejects ListShards, and the producer works without a shard map.
    if (headers['x-amz-target'] !== 'Kinesis_20131202.PutRecords') return response.writeHead(400).end();
    requests += 1;
    return behave(response, requests, body);
  });
  const environment = { [STREAM_NAME]: 'Events' };
  producer = await LambdaFunction.start({ name: 'producer', endpoint: server.endpoint, environment });
});

beforeEach(() => {
  requests = 0;
});

afterAll(async () => {
  await producer.stop();
  server.stop();
});

describe('the producer function on a failing network', () => {
  test('retries the records of a request if the response is incomplete', async () => {
    behave = (response, request, body) => {
      if (request > 1) return sendJson(response, putRecordsOutput(JSON.parse(body)));
      response.writeHead(200, { 'content-length': 1_000 }).write('{"Records"');
      setTimeout(() => response.destroy(), 20);
    };
    const { response } = await producer.invoke({ records: records('a', 'b') }, 20_000);
    expect(JSON.parse(response!)).toMatchObject({ failedRecordCount: 0, records: [{ attempts: 2 }, { attempts: 2 }] });
  });

  test.each<[string, (response: ServerResponse) => void]>([
    ['never responds', () => {}],
    ['stalls within its response', (response) => void response.writeHead(200, { 'content-length': 1_000 }).write('{')],
  ])('responds before its timeout if the service %s', async (_, behaviour) => {
    behave = behaviour;
    const { response, leftMs } = await producer.invoke({ records: records('a', 'a') }, 3_000);
    expect(leftMs).toBeGreaterThan(0);
    expect(JSON.parse(response!)).toMatchObject({
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
    const { error } = await producer.invoke({ records: records(...Array<string>(10_001).fill('a')) });
    expect(error).toMatchObject({
      name: 'InvalidEventError',
      message: '[INVALID_EVENT] records must be at most 10000 records, got 10001',
    });
    expect(requests).toBe(0);
  });
});
