import { setTimeout } from 'node:timers/promises';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { Kinesis } from '@aws-sdk/client-kinesis';
import { cbor } from '@smithy/core/cbor';
import { LOCAL_REGION } from '../../../bin/local/assembly/emulated-types';
import { LOCAL_CREDENTIALS } from '../../../bin/local/functions/lambda-environment';
import { GATED_BY_KINESIS } from '../../../bin/local/limits/kinesis-gate';
import { type LocalStack, startLocal } from '../../../bin/local/run-local';
import { shardAttributes } from '../../../lib/core/sharded-index/write/shard-attributes';
import { LIMITED_CALLS } from '../../../lib/testing/kinesis-limits';
import { indexConfig, synthesizeReferenceApp } from '../../support/reference-app';

/** Tests `even-shards local --limits 0.1`: the emulators throttle as the services do. */

const SCALE = 0.1;

describe('local --limits', () => {
  let stack: LocalStack;

  beforeAll(async () => {
    stack = await startLocal({ app: synthesizeReferenceApp(), gates: { limits: SCALE } });
  }, 60_000);
  afterAll(() => stack?.stop());

  afterEach(() => jest.restoreAllMocks());

  test('throttles writes to one hot shard with the reasons of DynamoDB, and throttles fewer writes that are spread over several shards', async () => {
    const dynamodb = new DynamoDB({
      region: LOCAL_REGION,
      credentials: LOCAL_CREDENTIALS,
      endpoint: stack.endpoints.dynamodb,
      maxAttempts: 1,
    });
    const config = indexConfig(stack, 'byStatus');
    const data = 'x'.repeat(10_000);
    const put = async (n: number, shards: Record<string, unknown>) => {
      const Item = toItem({ jobId: `job-${n}`, status: 'pending', createdAt: `${n}`, data, ...shards });
      return dynamodb.putItem({ TableName: config.tableName, Item }).then(
        () => undefined,
        (error) => error,
      );
    };
    const putAll = (first: number, shardsOf: (n: number) => Record<string, unknown>) =>
      Promise.all(Array.from({ length: 100 }, (_, n) => put(first + n, shardsOf(first + n))));
    // The clock of the limits stands still, so that the writes use up the burst capacity even on a slow machine.
    jest.spyOn(performance, 'now').mockReturnValue(performance.now());
    const unsharded = await putAll(0, () => ({ [config.shardAttribute]: 'pending#0' }));
    const errors = unsharded.filter((error) => error !== undefined);
    expect(errors.length).toBeGreaterThan(50);
    expect(errors[0]).toMatchObject({
      name: 'ProvisionedThroughputExceededException',
      ThrottlingReasons: [
        {
          reason: 'IndexWriteKeyRangeThroughputExceeded',
          resource: expect.stringMatching(new RegExp(`table/${config.tableName}/index/byStatus$`)),
        },
      ],
    });
    const sharded = await putAll(1_000, (n) =>
      shardAttributes(config, { status: 'pending', jobId: `job-${n}`, createdAt: `${n}` }),
    );
    expect(sharded.filter((error) => error !== undefined).length).toBeLessThan(errors.length / 2);
    dynamodb.destroy();
  }, 60_000);

  test('throttles clients that use CBOR, such as the Java SDK, and responds in CBOR', async () => {
    const StreamName = stack.streams[0]!.name;
    const cborType = 'application/x-amz-cbor-1.1';
    const send = async (operation: string, body: Uint8Array) => {
      const headers = {
        'content-type': cborType,
        'x-amz-target': `Kinesis_20131202.${operation}`,
        'x-amz-date': '20260101T000000Z',
        authorization:
          'AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/kinesis/aws4_request, SignedHeaders=host, Signature=b',
      };
      const response = await fetch(stack.endpoints.kinesis, { method: 'POST', headers, body: Buffer.from(body) });
      expect(response.headers.get('content-type')).toBe(cborType);
      return { status: response.status, output: cbor.deserialize(new Uint8Array(await response.arrayBuffer())) };
    };
    const call = (operation: string, input: object) => send(operation, cbor.serialize(input));
    /** Repeats a call while it is throttled, because other tests may have used up the reads of the shard. */
    const responseTo = async (operation: string, input: object) => {
      for (;;) {
        const { status, output } = await call(operation, input);
        if (status === 200) return output;
        expect(output.__type).toMatch(/^(LimitExceeded|ProvisionedThroughputExceeded)Exception$/);
        await setTimeout(500);
      }
    };
    const PartitionKey = 'cbor';
    const Data = Buffer.from([0, 1, 254, 255]);
    const Records = Array.from({ length: 150 }, () => ({ PartitionKey, Data }));
    const { output: put } = await call('PutRecords', { StreamName, Records });
    expect(put.FailedRecordCount).toBeGreaterThan(0);
    expect(put.Records.filter(({ ErrorCode }: { ErrorCode?: string }) => ErrorCode)).toHaveLength(
      put.FailedRecordCount,
    );
    const { ShardId, SequenceNumber } = put.Records.find((record: { ShardId?: string }) => record.ShardId);
    const start = {
      StreamName,
      ShardId,
      ShardIteratorType: 'AT_SEQUENCE_NUMBER',
      StartingSequenceNumber: SequenceNumber,
    };
    const iterator = await responseTo('GetShardIterator', start);
    const got = await responseTo('GetRecords', iterator);
    expect(Buffer.from(got.Records[0].Data)).toEqual(Data);
    expect(got.Records[0]).toMatchObject({ PartitionKey, SequenceNumber });
    expect(await call('ListShards', { StreamName: 'none' })).toMatchObject({
      status: 400,
      output: { __type: 'ResourceNotFoundException' },
    });
    expect(await send('PutRecords', Buffer.from('{}'))).toMatchObject({
      status: 400,
      output: { __type: 'SerializationException' },
    });
  }, 60_000);

  test('throttles every operation for which Kinesis has a limit', () => {
    expect([...GATED_BY_KINESIS]).toEqual(expect.arrayContaining([...LIMITED_CALLS]));
  });

  test('throttles control plane calls with the error of Kinesis', async () => {
    const kinesis = new Kinesis({
      ...{ region: LOCAL_REGION, credentials: LOCAL_CREDENTIALS, endpoint: stack.endpoints.kinesis, maxAttempts: 1 },
    });
    const tag = () => kinesis.addTagsToStream({ StreamName: stack.streams[0]!.name, Tags: { team: 'orders' } });
    await tag();
    await expect(tag()).rejects.toMatchObject({ name: 'LimitExceededException' });
    kinesis.destroy();
  });

  test('reports how many writes it has throttled', () => {
    expect(stack.gates!.report()).toEqual([
      expect.stringMatching(/^throttled: [1-9]\d* records of streams, [1-9]\d* writes of tables and indexes$/),
    ]);
  });
});

function toItem(attributes: Record<string, unknown>) {
  return Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, { S: String(value) }]));
}
