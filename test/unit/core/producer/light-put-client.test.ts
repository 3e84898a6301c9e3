import { Kinesis, type KinesisClientConfig } from '@aws-sdk/client-kinesis';
import fc from 'fast-check';
import { OrderedProducer, type PutRecordsClient, type PutRecordsInput } from '../../../../lib/core';
import { lightPutClient, type SdkPutClient } from '../../../../lib/core/producer/light-put-client';
import { isRetryableRequestError, mayHaveBeenApplied } from '../../../../lib/core/producer/retry';
import { type Answer, type SentRequest, Wire } from '../../../support/fakes/wire';

const CREDENTIALS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret', sessionToken: 'token' };
const STORED = { SequenceNumber: '7', ShardId: 'shardId-000000000000' };

function clients(config: KinesisClientConfig = {}): { wire: Wire; sdk: Kinesis; light: PutRecordsClient } {
  const wire = new Wire();
  wire.answer = ({ body }) => ({
    statusCode: 200,
    body: { FailedRecordCount: 0, Records: JSON.parse(body).Records.map(() => STORED) },
  });
  const requestHandler = wire as unknown as KinesisClientConfig['requestHandler'];
  const sdk = new Kinesis({ region: 'eu-west-3', credentials: CREDENTIALS, maxAttempts: 1, requestHandler, ...config });
  /** Checks at compile time that the SDK client has the required type without a cast. */
  const required: SdkPutClient = sdk;
  return { wire, sdk, light: lightPutClient(required) };
}

const INPUT: PutRecordsInput = {
  StreamName: 'orders',
  Records: [
    { Data: Buffer.from('grün'), PartitionKey: 'schlüssel "1"' },
    {
      Data: new Uint8Array([0, 255]),
      PartitionKey: 'key-2',
      ExplicitHashKey: '170141183460469231731687303715884105728',
    },
  ],
};

describe('lightPutClient', () => {
  test('sends the first PutRecords request of a stream with the SDK, and later requests without the SDK', async () => {
    const { wire, light } = clients();
    const arn = 'arn:aws:kinesis:eu-west-3:123456789012:stream/payments';
    const streams = ['orders', 'orders', 'payments', 'payments'].map((StreamName) => ({ StreamName }));
    for (const stream of [...streams, { StreamARN: arn }, { StreamARN: arn }]) {
      await light.putRecords({ ...stream, Records: INPUT.Records });
    }
    expect(wire.senders).toEqual(['SDK', 'light', 'SDK', 'light', 'SDK', 'light']);
  });

  test('sends the same request to the same endpoint as the SDK, for any records', async () => {
    const { wire, light, sdk } = clients();
    await light.putRecords(INPUT);
    const entry = fc.record(
      {
        Data: fc.oneof(
          fc.uint8Array(),
          fc.uint8Array().map((bytes) => Buffer.from(bytes).subarray(1)),
        ),
        PartitionKey: fc.oneof(
          fc.string({ minLength: 1, unit: 'grapheme' }),
          // The longest partition keys, with characters that take the most bytes in JSON or UTF-8.
          fc.constantFrom('\u0001', '\u20ac', 'a').map((character) => character.repeat(256)),
        ),
        ExplicitHashKey: fc.bigInt({ min: 0n }).map(String),
      },
      { requiredKeys: ['Data', 'PartitionKey'] },
    );
    const place = ({ protocol, hostname, port, path }: SentRequest) => ({ protocol, hostname, port, path });
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { minLength: 1 }), async (Records) => {
        wire.requests.length = 0;
        const input = { StreamName: 'orders', Records };
        expect(await light.putRecords(input)).toEqual({ FailedRecordCount: 0, Records: Records.map(() => STORED) });
        await sdk.putRecords(input);
        const [own, theirs] = wire.requests as [SentRequest, SentRequest];
        expect(wire.senders).toEqual(['light', 'SDK']);
        expect(place(own)).toEqual(place(theirs));
        expect(JSON.parse(own.body)).toEqual(JSON.parse(theirs.body));
        for (const name of ['host', 'content-type', 'x-amz-target', 'x-amz-security-token', 'user-agent']) {
          expect([name, own.headers[name]]).toEqual([name, theirs.headers[name]]);
        }
        expect(own.headers['content-length']).toBe(String(Buffer.byteLength(own.body)));
      }),
    );
  });

  test.each([
    ['http/1.1', 'host'],
    ['h2', ':authority'],
  ])('signs, for an endpoint with %s, the host in the header %s', async (handlerProtocol, name) => {
    const { wire, light } = clients();
    wire.metadata = { handlerProtocol };
    for (let put = 0; put < 2; put++) await light.putRecords(INPUT);
    expect(wire.senders).toEqual(['SDK', 'light']);
    for (const { headers } of wire.requests) {
      expect(headers[name]).toBe('kinesis.eu-west-3.amazonaws.com');
      expect(headers.authorization).toMatch(new RegExp(`SignedHeaders=([^,]*;)?${name};`));
    }
    expect(Object.values(wire.requests[1]!.headers)).not.toContain(undefined);
  });

  const brokenConnection = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });

  test.each<[string, Answer, { again: boolean; mayBeThere: boolean }]>([
    [
      'a throttle',
      { statusCode: 400, body: { __type: 'x#ProvisionedThroughputExceededException' } },
      { again: true, mayBeThere: false },
    ],
    ['an internal error', { statusCode: 500, body: { __type: 'InternalFailure' } }, { again: true, mayBeThere: true }],
    ['a bad gateway', { statusCode: 502, body: '<html>' }, { again: true, mayBeThere: true }],
    ['a lost connection', brokenConnection, { again: true, mayBeThere: true }],
    ['a truncated response', { statusCode: 200, body: '{"Records":[{"Sh' }, { again: true, mayBeThere: true }],
  ])(
    'after %s, throws an error with which the producer sends the request again, and sends no request itself',
    async (_, failure, { again, mayBeThere }) => {
      const { wire, light } = clients();
      await light.putRecords(INPUT);
      wire.answer = () => failure;
      const error = await light.putRecords(INPUT).catch((thrown) => thrown);
      expect(wire.senders).toEqual(['SDK', 'light']);
      expect([isRetryableRequestError(error), mayHaveBeenApplied(error)]).toEqual([again, mayBeThere]);
    },
  );

  test('throws the same error as the SDK', async () => {
    const failures: Answer[] = [400, 429, 500, 503].flatMap((statusCode) =>
      [
        'ProvisionedThroughputExceededException',
        'KMSThrottlingException',
        'ThrottlingException',
        'InternalFailure',
      ].map((__type) => ({ statusCode, body: { __type, message: 'no' } })),
    );
    for (const failure of failures) {
      const { wire, sdk, light } = clients();
      await light.putRecords(INPUT);
      wire.answer = () => failure;
      const [own, theirs] = await Promise.all(
        [light, sdk].map((client) => client.putRecords(INPUT).catch((thrown: unknown) => thrown)),
      );
      expect([failure, isRetryableRequestError(own), mayHaveBeenApplied(own)]).toEqual([
        failure,
        isRetryableRequestError(theirs),
        mayHaveBeenApplied(theirs),
      ]);
    }
  });

  test.each(['InvalidSignatureException', 'RequestExpired', 'AccessDeniedException', 'ResourceNotFoundException'])(
    'sends a request again with the SDK after %s',
    async (__type) => {
      const { wire, light } = clients();
      await light.putRecords(INPUT);
      wire.answer = () => ({ statusCode: 400, body: { __type: `x#${__type}`, message: 'no' } });
      await expect(light.putRecords(INPUT)).rejects.toMatchObject({ name: __type, $fault: 'client' });
      expect(wire.senders).toEqual(['SDK', 'light', 'SDK']);
    },
  );

  test('sends the other requests of a producer with the SDK', async () => {
    const { wire, light } = clients();
    wire.answer = () => ({ statusCode: 200, body: {} });
    await light.listShards!({ StreamName: 'orders' });
    await light.describeStreamSummary!({ StreamName: 'orders' });
    await light.putRecord!({ StreamName: 'orders', ...INPUT.Records[0]! });
    expect(wire.senders).toEqual(['SDK', 'SDK', 'SDK']);
  });

  test('works even if the clock is wrong, because the SDK corrects the clock offset', async () => {
    const { wire, light } = clients();
    const { answer } = wire;
    const skewMs = 3_600_000;
    wire.headers = () => ({ date: new Date(Date.now() + skewMs).toUTCString() });
    wire.answer = (request, number) => {
      const at = request.headers['x-amz-date']!.replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5');
      const isSkewed = Math.abs(Date.parse(at) - Date.now() - skewMs) > 300_000;
      const refusal = { __type: 'x#InvalidSignatureException', message: 'Signature expired' };
      return isSkewed ? { statusCode: 400, body: refusal } : answer(request, number);
    };
    const producer = new OrderedProducer({ putRecords: light.putRecords }, { streamName: 'orders', backoffBaseMs: 1 });
    const receipt = { shardId: STORED.ShardId, sequenceNumber: STORED.SequenceNumber };
    await expect(producer.put({ partitionKey: 'k', data: new Uint8Array(1) })).resolves.toMatchObject(receipt);
    await producer.close();
  });
});
