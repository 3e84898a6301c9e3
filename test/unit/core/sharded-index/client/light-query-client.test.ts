import { crc32 } from 'node:zlib';
import { DynamoDB, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import type { AttributeValue, IndexQueryInput, QueryClient } from '../../../../../lib/core';
import {
  type LightQueryTrace,
  lightQueryClient,
  type SdkQueryClient,
} from '../../../../../lib/core/sharded-index/client/light-query-client';
import { type Answer, type SentRequest, Wire } from '../../../../support/fakes/wire';

type Credentials = { accessKeyId: string; secretAccessKey: string; sessionToken?: string | undefined };

const CREDENTIALS: Credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret', sessionToken: 'token' };

function clients(config: DynamoDBClientConfig = {}): { wire: Wire; sdk: DynamoDB; light: QueryClient } {
  const wire = new Wire();
  wire.answer = () => ({ statusCode: 200, body: { Items: [] } });
  const requestHandler = wire as unknown as DynamoDBClientConfig['requestHandler'];
  const sdk = new DynamoDB({ region: 'eu-west-3', credentials: CREDENTIALS, requestHandler, ...config });
  /** Checks at compile time that the client of the SDK has the required type without a cast. */
  const required: SdkQueryClient = sdk;
  return { wire, sdk, light: lightQueryClient(required) };
}

const INPUT: IndexQueryInput = {
  TableName: 'Jobs',
  IndexName: 'byStatus',
  KeyConditionExpression: '#a = :a AND #b >= :b',
  ExpressionAttributeNames: { '#a': 'byStatusShard', '#b': 'digest' },
  ExpressionAttributeValues: {
    ':a': { S: 'grün#3' },
    ':b': { B: Buffer.from([0, 255]) },
    ':c': { BS: [new Uint8Array([1]), new Uint8Array([2, 255])] },
  },
  ExclusiveStartKey: { jobId: { S: 'j' }, digest: { B: new Uint8Array([7]) } },
  ScanIndexForward: false,
  Limit: 7,
  ReturnConsumedCapacity: 'TOTAL',
};

const throttled = {
  statusCode: 400,
  body: { __type: 'com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException', message: 'slow down' },
};

describe('lightQueryClient', () => {
  test('sends the first query of a table with the SDK, and later queries without the SDK', async () => {
    const { wire, light } = clients();
    for (const TableName of ['Jobs', 'Jobs', 'Orders', 'Jobs', 'Orders']) await light.query({ ...INPUT, TableName });
    expect(wire.senders).toEqual(['SDK', 'light', 'SDK', 'light', 'light']);
  });

  test.each([undefined, 'http://127.0.0.1:8000'])(
    'sends the same request to the same endpoint as the SDK: %s',
    async (endpoint) => {
      const { wire, light } = clients(endpoint === undefined ? {} : { endpoint });
      await light.query(INPUT);
      await light.query(INPUT);
      const [sdk, own] = wire.requests as [SentRequest, SentRequest];
      const place = ({ protocol, hostname, port, path }: SentRequest) => ({ protocol, hostname, port, path });
      expect(place(own)).toEqual(place(sdk));
      const scope = ({ headers }: SentRequest) => headers.authorization!.split(',')[0]!.replace(/\/\d{8}\//, '/DAY/');
      expect(scope(own)).toBe(scope(sdk));
      expect(JSON.parse(own.body)).toEqual(JSON.parse(sdk.body));
      for (const name of ['host', 'content-type', 'x-amz-target', 'x-amz-security-token', 'user-agent']) {
        expect([name, own.headers[name]]).toEqual([name, sdk.headers[name]]);
      }
      expect(own.headers['content-length']).toBe(String(Buffer.byteLength(own.body)));
    },
  );

  const attribute = fc.letrec<{ value: AttributeValue }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.string().map((S) => ({ S })),
      fc.bigInt().map((N) => ({ N: String(N) })),
      fc.uint8Array().map((B) => ({ B })),
      fc.boolean().map((BOOL) => ({ BOOL })),
      fc.constant({ NULL: true }),
      fc.array(fc.string(), { minLength: 1 }).map((SS) => ({ SS })),
      fc.array(fc.uint8Array(), { minLength: 1 }).map((BS) => ({ BS })),
      fc.array(tie('value'), { maxLength: 3 }).map((L) => ({ L })),
      fc.dictionary(fc.string(), tie('value'), { maxKeys: 3 }).map((M) => ({ M })),
    ),
  })).value;

  test('parses every attribute type as the SDK does', async () => {
    const { wire, light } = clients();
    await light.query(INPUT);
    const toText = (_: string, value: unknown) =>
      value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string(), attribute), async (item) => {
        const output = {
          Items: [item],
          LastEvaluatedKey: item,
          ScannedCount: 3,
          ConsumedCapacity: { CapacityUnits: 1.5 },
        };
        wire.answer = () => ({ statusCode: 200, body: JSON.stringify(output, toText) });
        expect(await light.query(INPUT)).toEqual(output);
      }),
    );
    expect(wire.senders.filter((sender) => sender === 'SDK')).toHaveLength(1);
  });

  const brokenConnection = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });

  test.each<[string, Answer, object]>([
    ['a throttled query', throttled, { name: 'ProvisionedThroughputExceededException', message: 'slow down' }],
    [
      'an internal error',
      { statusCode: 500, body: { __type: 'InternalServerError' } },
      { name: 'InternalServerError' },
    ],
    ['a bad gateway', { statusCode: 502, body: '<html>' }, { $metadata: { httpStatusCode: 502 } }],
    ['a broken connection', brokenConnection, brokenConnection],
  ])('throws the error of the SDK after %s, so that the caller can retry', async (_, failure, error) => {
    const { wire, light } = clients();
    await light.query(INPUT);
    wire.answer = () => failure;
    await expect(light.query(INPUT)).rejects.toMatchObject(error);
    expect(wire.senders).toEqual(['SDK', 'light']);
  });

  test.each<[string, Answer]>([
    ['a signature with a wrong time', { statusCode: 400, body: { __type: 'x#InvalidSignatureException' } }],
    ['an expired request', { statusCode: 400, body: { __type: 'x#RequestExpired' } }],
    ['expired credentials without newer credentials', { statusCode: 400, body: { __type: 'x#ExpiredTokenException' } }],
    ['a truncated response', { statusCode: 200, body: '{"Items":[{"jobI' }],
  ])('sends the query again with the SDK after %s', async (_, failure) => {
    const { wire, light } = clients();
    await light.query(INPUT);
    wire.answer = (__, number) => (number === 2 ? failure : { statusCode: 200, body: { Items: [], ScannedCount: 5 } });
    await expect(light.query(INPUT)).resolves.toMatchObject({ ScannedCount: 5 });
    expect(wire.senders).toEqual(['SDK', 'light', 'SDK']);
    expect(JSON.parse(wire.requests[2]!.body)).toEqual(JSON.parse(wire.requests[1]!.body));
  });

  test('throws the error of the SDK for an invalid query', async () => {
    let credentialRequests = 0;
    const { wire, light } = clients({
      credentials: async () => {
        credentialRequests += 1;
        return CREDENTIALS;
      },
    });
    await light.query(INPUT);
    const body = { __type: 'com.amazon.coral.validate#ValidationException', message: 'no such attribute' };
    wire.answer = () => ({ statusCode: 400, body });
    await expect(light.query(INPUT)).rejects.toMatchObject({
      name: 'ValidationException',
      message: 'no such attribute',
      $fault: 'client',
    });
    expect(wire.senders).toEqual(['SDK', 'light', 'SDK']);
    expect(credentialRequests).toBe(1);
  });

  /** Signs the signed headers of a request again, with the signer of the SDK. */
  async function signedBySdk({ headers, ...request }: SentRequest, credentials: Credentials, signingDate: Date) {
    const signer = await new DynamoDB({ region: 'eu-west-3', credentials }).config.signer();
    Object.assign(signer, { applyChecksum: false });
    const names = /SignedHeaders=([^,]+)/.exec(headers.authorization!)![1]!.split(';');
    const signed = Object.fromEntries(names.map((name) => [name, headers[name]!]));
    return (await signer.sign({ ...request, method: 'POST', headers: signed }, { signingDate })).headers;
  }

  test('signs each query as the SDK does, with the current credentials and the clock offset of the SDK', async () => {
    let current: Credentials = CREDENTIALS;
    const { wire, sdk, light } = clients({ credentials: async () => ({ ...current, expiration: new Date(0) }) });
    await light.query(INPUT);
    const now = jest.spyOn(Date, 'now').mockReturnValue(Date.UTC(2026, 10, 28, 20));
    const changes = [{ accessKeyId: 'AKIDOTHER' }, { secretAccessKey: 'another' }, { sessionToken: undefined }, {}];
    for (const systemClockOffset of [0, 1_000, 86_400_000]) {
      Object.assign(sdk.config, { systemClockOffset });
      for (const change of changes) {
        for (current of [CREDENTIALS, { ...CREDENTIALS, ...change }]) {
          await light.query(INPUT);
          const request = wire.requests.at(-1)!;
          const expected = await signedBySdk(request, current, new Date(Date.now() + systemClockOffset));
          expect(request.headers).toMatchObject(expected);
        }
      }
    }
    now.mockRestore();
    expect(wire.senders).toEqual(['SDK', ...Array(24).fill('light')]);
  });

  test.each<[string, DynamoDBClientConfig]>([
    ['the URL of the endpoint has a path', { endpoint: 'https://proxy.example/dynamodb' }],
    ['the caller gave the client a signer', { signer: { sign: async (request) => request } }],
  ])('sends queries with the SDK if %s', async (_, config) => {
    const { wire, light } = clients(config);
    await light.query(INPUT);
    await light.query(INPUT);
    expect(wire.senders).toEqual(['SDK', 'SDK']);
  });

  test('does not send an aborted query again', async () => {
    const { wire, light } = clients();
    await light.query(INPUT);
    wire.answer = () => Object.assign(new Error('aborted'), { name: 'AbortError' });
    const query = light.query as (input: IndexQueryInput, options: { abortSignal: AbortSignal }) => Promise<unknown>;
    await expect(query(INPUT, { abortSignal: AbortSignal.abort() })).rejects.toMatchObject({ name: 'AbortError' });
    expect(wire.senders).toEqual(['SDK', 'light']);
  });
});

describe('lightQueryClient – signature, retries and traces', () => {
  test('retries once after the SDK has corrected the clock offset, even if the SDK may make only one attempt', async () => {
    const { wire, light } = clients({ maxAttempts: 1 });
    const now = new Date(Date.now() + 3_600_000).toUTCString();
    wire.headers = () => ({ date: now });
    const skewed = { statusCode: 400, body: { __type: 'x#InvalidSignatureException', message: 'Signature expired' } };
    wire.answer = (_, number) => (number === 1 ? skewed : { statusCode: 200, body: { Items: [], ScannedCount: 0 } });
    await expect(light.query(INPUT)).resolves.toMatchObject({ ScannedCount: 0 });
    expect(wire.requests).toHaveLength(2);
  });

  test('the error of a throttled query contains the request id and the throttling reasons', async () => {
    const { wire, light } = clients();
    await light.query(INPUT);
    const ThrottlingReasons = [{ reason: 'IndexReadKeyRangeThroughputExceeded', resource: 'arn' }];
    wire.headers = () => ({ 'x-amzn-requestid': 'REQUEST' });
    wire.answer = () => ({ statusCode: 400, body: { ...throttled.body, ThrottlingReasons } });
    const error = { ThrottlingReasons, $metadata: { httpStatusCode: 400, requestId: 'REQUEST' } };
    await expect(light.query(INPUT)).rejects.toMatchObject(error);
  });

  test('uses new credentials after DynamoDB rejects the cached credentials as expired', async () => {
    let accessKeyId = 'FIRST';
    const { wire, light } = clients({
      credentials: async () => ({ ...CREDENTIALS, accessKeyId, expiration: new Date(Date.now() + 3_600_000) }),
    });
    await light.query(INPUT);
    accessKeyId = 'SECOND';
    const expired = { statusCode: 400, body: { __type: 'x#ExpiredTokenException', message: 'expired' } };
    wire.answer = ({ headers }) =>
      headers.authorization!.includes('FIRST') ? expired : { statusCode: 200, body: { Items: [], ScannedCount: 1 } };
    await expect(light.query(INPUT)).resolves.toMatchObject({ ScannedCount: 1 });
    expect(wire.senders).toEqual(['SDK', 'light', 'light']);
  });

  test('throws an error after a response with a wrong checksum', async () => {
    const { wire, light } = clients();
    await light.query(INPUT);
    wire.headers = (text) => ({ 'x-amz-crc32': String(crc32(text)) });
    await expect(light.query(INPUT)).resolves.toEqual({ Items: [] });
    wire.headers = () => ({ 'x-amz-crc32': '1' });
    await expect(light.query(INPUT)).rejects.toMatchObject({ name: 'CRC32CheckFailed' });
  });

  test('calls onQuery for each query', async () => {
    const { wire, sdk } = clients();
    const traces: LightQueryTrace[] = [];
    const light = lightQueryClient(sdk, { onQuery: (trace) => traces.push(trace) });
    let now = 1_000;
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => now);
    wire.answer = () => {
      now += 5;
      return { statusCode: 200, body: { Items: [], ConsumedCapacity: { CapacityUnits: 1.5 } } };
    };
    await light.query(INPUT);
    await light.query(INPUT);
    clock.mockRestore();
    wire.answer = () => throttled;
    await expect(light.query(INPUT)).rejects.toThrow('slow down');
    const invalid = { statusCode: 400, body: { __type: 'x#ValidationException', message: 'no such index' } };
    wire.answer = () => invalid;
    await expect(light.query(INPUT)).rejects.toThrow('no such index');
    const index = { tableName: 'Jobs', indexName: 'byStatus' };
    expect(traces).toMatchObject([
      { ...index, viaSdk: true, durationMs: 5, consumedReadUnits: 1.5 },
      { ...index, viaSdk: false, durationMs: 5, consumedReadUnits: 1.5 },
      { ...index, viaSdk: false, error: { name: 'ProvisionedThroughputExceededException' } },
      { ...index, viaSdk: false },
      { ...index, viaSdk: true, error: { name: 'ValidationException' } },
    ]);
    // The light client sends this query again with the SDK, so the query has not failed yet.
    expect(traces[3]).not.toHaveProperty('error');
  });
});
