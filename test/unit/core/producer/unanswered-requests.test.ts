import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { Kinesis } from '@aws-sdk/client-kinesis';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { OrderedProducer, type PutRecordsClient } from '../../../../lib/core';
import type { MalformedAnswer, RequestFate } from '../../../../lib/testing/fake-kinesis';
import { VirtualClock } from '../../../../lib/testing/virtual-clock';
import { producerOnFakeStream, record } from './producer-on-fake-stream';

const codes = (results: PromiseSettledResult<unknown>[]) =>
  results.map((result) => (result.status === 'rejected' ? result.reason.code : 'delivered'));

/** Gives the first requests these fates. Later requests get a normal response. */
const firstRequests =
  (...fates: RequestFate[]) =>
  (): RequestFate =>
    fates.shift() ?? 'answered';

describe('a request without a response', () => {
  test.each<RequestFate>(['silent', 'swallowed'])(
    'ends at its timeout, and the producer sends the request again: %s',
    async (fate) => {
      const { clock, kinesis, producer } = producerOnFakeStream(
        { requestFate: firstRequests(fate) },
        { requestTimeoutMs: 1_000, backoffBaseMs: 0 },
      );
      await expect(clock.runUntil(producer.put(record('a', '1')))).resolves.toMatchObject({ attempts: 2 });
      expect(clock.nowMs).toBe(1_020);
      expect(kinesis.dataOf('a')).toEqual(fate === 'silent' ? ['1', '1'] : ['1']);
      expect(producer.statistics().errorsByCode).toEqual({ TimeoutError: 1 });
    },
  );

  test('may have been applied by Kinesis', async () => {
    const { clock, producer } = producerOnFakeStream({ requestFate: () => 'silent' }, { maxAttempts: 1 });
    await expect(clock.runUntil(producer.put(record('a')))).rejects.toMatchObject({
      serviceCode: 'TimeoutError',
      mayHaveBeenWritten: true,
      message: expect.stringContaining('no response within 10000 ms'),
    });
  });

  test('ends even if its client ignores the abort signal', async () => {
    const clock = new VirtualClock();
    const client: PutRecordsClient = { putRecords: () => new Promise(() => {}) };
    const producer = new OrderedProducer(client, { streamName: 'Events', clock, maxAttempts: 1 });
    await expect(clock.runUntil(producer.put(record('a')))).rejects.toMatchObject({ code: 'RECORD_REJECTED' });
    await clock.runUntil(producer.close());
  });

  test('also ends at its timeout if the request is a PutRecord request', async () => {
    const { clock, producer } = producerOnFakeStream(
      { requestFate: firstRequests('silent') },
      { sequentialPuts: true, requestTimeoutMs: 500 },
    );
    await expect(clock.runUntil(producer.put(record('a')))).resolves.toMatchObject({ attempts: 2 });
  });

  test('does not delay records if the request only reads the shard map', async () => {
    const { clock, kinesis, producer } = producerOnFakeStream({ shardCount: 8, callFate: () => 'silent' });
    await clock.runUntil(producer.putAll(Array.from({ length: 20_000 }, (_, index) => record(String(index)))));
    await clock.runUntil(clock.sleep(10_000));
    await clock.runUntil(producer.putAll(Array.from({ length: 20_000 }, (_, index) => record(String(index)))));
    expect(kinesis.allData()).toHaveLength(40_000);
    expect(kinesis.mostInFlight).toBeGreaterThan(1);
  });

  test('leaves the size limit at its default if the request reads the size limit', async () => {
    const { clock, producer } = producerOnFakeStream({ callFate: () => 'silent' });
    const tooLarge = { partitionKey: 'a', data: Buffer.alloc(1024 * 1024) };
    await expect(clock.runUntil(producer.put(tooLarge))).rejects.toMatchObject({ code: 'RECORD_TOO_LARGE' });
    expect(clock.nowMs).toBe(10_000);
  });

  test('is aborted in the SDK, which closes its connection', async () => {
    const silentServer = createServer((socket) => socket.resume()).listen(0, '127.0.0.1');
    const connected = once(silentServer, 'connection');
    await once(silentServer, 'listening');
    const { port } = silentServer.address() as AddressInfo;
    const kinesis = new Kinesis({
      region: 'eu-west-1',
      endpoint: `http://127.0.0.1:${port}`,
      credentials: { accessKeyId: 'none', secretAccessKey: 'none' },
      maxAttempts: 1,
      requestHandler: new NodeHttpHandler(),
    });
    const clock = new VirtualClock();
    const producer = new OrderedProducer(kinesis, { streamName: 'Events', clock, maxAttempts: 1 });
    const put = clock.runUntil(producer.put(record('a')), async () => {
      await connected;
      await new Promise(setImmediate);
    });
    const [socket] = await connected;
    await expect(put).rejects.toMatchObject({ serviceCode: 'TimeoutError' });
    if (!socket.closed) await once(socket, 'close');
    await producer.close();
    kinesis.destroy();
    silentServer.close();
  });
});

describe('records that wait while a batch entry of their key is in flight', () => {
  const silence = { requestFate: () => 'silent' as const };

  test.each([
    [false, 1],
    [true, 2],
  ])('are rejected immediately by an abort, with aggregation: %s', async (aggregation, inFlight) => {
    const abort = new AbortController();
    const { clock, producer } = producerOnFakeStream(silence, { signal: abort.signal, aggregation });
    const puts = ['1', '2'].slice(0, inFlight).map((data) => producer.put(record('a', data)));
    await clock.runUntil(clock.sleep(0));
    puts.push(...['3', '4'].map((data) => producer.put(record('a', data))));
    clock.schedule(() => abort.abort(), 3_000);
    expect(codes(await clock.runUntil(Promise.allSettled(puts.slice(inFlight))))).toEqual([
      'PRODUCER_ABORTED',
      'PRODUCER_ABORTED',
    ]);
    expect(clock.nowMs).toBe(3_000);
    for (const result of await clock.runUntil(Promise.allSettled(puts.slice(0, inFlight)))) {
      expect(result).toMatchObject({ reason: { mayHaveBeenWritten: true } });
    }
    await clock.runUntil(producer.close());
    expect(clock.nowMs).toBe(10_000);
  });

  test('are rejected at their maximum age, together with the records after them', async () => {
    const { clock, producer } = producerOnFakeStream(silence, { maxRecordAgeMs: 1_000, maxAttempts: 1 });
    const puts = [producer.put(record('a'))];
    clock.schedule(() => puts.push(producer.put(record('a')), producer.put(record('a'))), 100);
    await clock.runUntil(clock.sleep(1_100));
    expect(codes(await clock.runUntil(Promise.allSettled(puts.slice(1))))).toEqual([
      'RECORD_EXPIRED',
      'EARLIER_RECORD_FAILED',
    ]);
    expect(clock.nowMs).toBe(1_100);
    expect(producer.statistics()).toMatchObject({ userRecordsFailed: 2 });
  });

  test('are rejected one by one at their maximum age with skipRejected', async () => {
    const { clock, kinesis, producer } = producerOnFakeStream(
      { requestFate: firstRequests('silent') },
      { maxRecordAgeMs: 1_000, requestTimeoutMs: 1_500, maxAttempts: 1, skipRejected: true },
    );
    const puts = [0, 100, 400, 900].map(
      (atMs) =>
        new Promise((resolve) =>
          clock.schedule(() => {
            const put = producer.put(record('a', `${atMs}`)).then(
              () => 'delivered',
              ({ code }) => code,
            );
            resolve(put.then((end) => `${end} at ${clock.nowMs}`));
          }, atMs),
        ),
    );
    expect(await clock.runUntil(Promise.all(puts))).toEqual([
      'RECORD_REJECTED at 1500',
      'RECORD_EXPIRED at 1100',
      'RECORD_EXPIRED at 1400',
      'delivered at 1520',
    ]);
    expect(kinesis.dataOf('a')).toEqual(['0', '900']);
  });

  test('delay a flush, which waits for these records and for the batch entry in flight', async () => {
    const { clock, producer } = producerOnFakeStream(silence, { maxRecordAgeMs: 1_000, maxAttempts: 1 });
    const puts = ['1', '2'].map((data) => producer.put(record('a', data)));
    const flush = producer.flush('a').then(() => clock.nowMs);
    expect(codes(await clock.runUntil(Promise.allSettled(puts)))).toEqual(['RECORD_REJECTED', 'RECORD_EXPIRED']);
    expect(await clock.runUntil(flush)).toBe(10_000);
  });

  test('are rejected at their maximum age, and a record that is put after this also waits for the batch entry in flight', async () => {
    const { clock, kinesis, producer } = producerOnFakeStream(
      { requestFate: firstRequests({ appliedLateByMs: 0 }), roundTripMs: () => 2_000 },
      { maxRecordAgeMs: 1_500 },
    );
    const puts = ['1', '2'].map((data) => producer.put(record('a', data)));
    await clock.runUntil(clock.sleep(1_600));
    puts.push(producer.put(record('a', '3')));
    expect(codes(await clock.runUntil(Promise.allSettled(puts)))).toEqual([
      'RECORD_REJECTED',
      'RECORD_EXPIRED',
      'EARLIER_RECORD_FAILED',
    ]);
    expect(kinesis.dataOf('a')).toEqual(['1']);
  });
});

describe('malformed responses', () => {
  const ANSWERS: MalformedAnswer[] = [
    'nothing',
    'no results',
    'too few results',
    'too many results',
    'null results',
    'empty results',
    'no sequence number',
    'no shard id',
  ];

  describe.each([
    ['PutRecords', false],
    ['PutRecord', true],
  ])('to %s', (_, sequentialPuts) => {
    test.each(ANSWERS)('the records are sent again after a response with %s', async (malformed) => {
      const { clock, kinesis, producer } = producerOnFakeStream(
        { requestFate: firstRequests({ malformed }) },
        { sequentialPuts },
      );
      await expect(clock.runUntil(producer.put(record('a', '1')))).resolves.toEqual({
        attempts: 2,
        shardId: 'shardId-000000000000',
        sequenceNumber: '1',
      });
      expect(kinesis.dataOf('a')).toEqual(['1', '1']);
    });
  });

  test.each([
    ['too many results', 'expected 1 results, got 2'],
    ['no results', 'expected 1 results, got none'],
  ] as const)('the error after a response with %s contains "%s"', async (malformed, message) => {
    const { clock, producer } = producerOnFakeStream({ requestFate: () => ({ malformed }) }, { maxAttempts: 1 });
    await expect(clock.runUntil(producer.put(record('a')))).rejects.toThrow(message);
  });

  test('a malformed result of one record does not affect the other records', async () => {
    const clock = new VirtualClock();
    let requests = 0;
    const client: PutRecordsClient = {
      putRecords: async ({ Records }) => ({
        Records: Records.map((_, index) => (requests++ === 0 ? {} : { ShardId: 's', SequenceNumber: `${index}` })),
      }),
    };
    const producer = new OrderedProducer(client, { streamName: 'Events', clock });
    const receipts = await clock.runUntil(Promise.all(['a', 'b'].map((key) => producer.put(record(key)))));
    expect(receipts.map(({ attempts }) => attempts)).toEqual([2, 1]);
  });

  test('after an error in a response that has a sequence number, the record may have been written', async () => {
    const clock = new VirtualClock();
    const client: PutRecordsClient = {
      putRecords: async () => ({ Records: [{ ErrorCode: 'InternalFailure', ShardId: 's', SequenceNumber: '1' }] }),
    };
    const producer = new OrderedProducer(client, { streamName: 'Events', clock, maxAttempts: 1 });
    await expect(clock.runUntil(producer.put(record('a')))).rejects.toMatchObject({ mayHaveBeenWritten: true });
  });

  test('after a response that the SDK cannot parse, the records may have been written', async () => {
    const clock = new VirtualClock();
    const unreadable = Object.assign(new TypeError("Cannot read properties of null (reading 'ShardId')"), {
      $response: {},
    });
    const client: PutRecordsClient = { putRecords: () => Promise.reject(unreadable) };
    const producer = new OrderedProducer(client, { streamName: 'Events', clock, maxAttempts: 2 });
    await expect(clock.runUntil(producer.put(record('a')))).rejects.toMatchObject({
      attempts: 2,
      mayHaveBeenWritten: true,
    });
  });
});

describe('a record of nearly 1 MiB', () => {
  const MIB = 1024 * 1024;

  test.each([
    [{ aggregation: true }, MIB - 4_096 + 1],
    [{ sequence: true }, MIB - 4_096 + 1],
  ])('is sent with %j and %i bytes, even if the size limit of the stream cannot be read', async (options, bytes) => {
    const { clock, kinesis } = producerOnFakeStream();
    const large = { partitionKey: 'a', data: Buffer.alloc(bytes) };
    const client = { putRecords: (input: Parameters<typeof kinesis.putRecords>[0]) => kinesis.putRecords(input) };
    for (const each of [client, kinesis]) {
      const producer = new OrderedProducer(each, { streamName: 'Events', clock, ...options });
      await expect(clock.runUntil(producer.put(large))).resolves.toMatchObject({ attempts: 1 });
    }
  });

  test('is sent unchanged without aggregation, even if it starts with the prefix of an aggregate', async () => {
    const { clock, producer } = producerOnFakeStream();
    const data = Buffer.alloc(MIB - 1);
    data.set([0xf3, 0x89, 0x9a, 0xc2]);
    await expect(clock.runUntil(producer.put({ partitionKey: 'a', data }))).resolves.toMatchObject({ attempts: 1 });
  });

  test.each([[undefined], [{ StreamDescriptionSummary: { MaxRecordSizeInKiB: null } }]])(
    'is sent if the response with the size limit is malformed: %j',
    async (answer) => {
      const { clock, kinesis } = producerOnFakeStream();
      const client = {
        putRecords: (input: Parameters<typeof kinesis.putRecords>[0]) => kinesis.putRecords(input),
        describeStreamSummary: async () => answer as object,
      };
      const producer = new OrderedProducer(client, { streamName: 'Events', clock, sequence: true });
      const large = { partitionKey: 'a', data: Buffer.alloc(MIB - 300) };
      await expect(clock.runUntil(producer.put(large))).resolves.toMatchObject({ attempts: 1 });
    },
  );
});
