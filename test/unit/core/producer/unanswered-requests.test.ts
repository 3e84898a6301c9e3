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

/** The fates of the first requests; those after them are answered. */
const firstRequests =
  (...fates: RequestFate[]) =>
  (): RequestFate =>
    fates.shift() ?? 'answered';

describe('a request that is not answered', () => {
  test.each<RequestFate>(['silent', 'swallowed'])('and %s is given up in its time, and sent again', async (fate) => {
    const { clock, kinesis, producer } = producerOnFakeStream(
      { requestFate: firstRequests(fate) },
      { requestTimeoutMs: 1_000, backoffBaseMs: 0 },
    );
    await expect(clock.runUntil(producer.put(record('a', '1')))).resolves.toMatchObject({ attempts: 2 });
    expect(clock.nowMs).toBe(1_020);
    expect(kinesis.dataOf('a')).toEqual(fate === 'silent' ? ['1', '1'] : ['1']);
    expect(producer.statistics().errorsByCode).toEqual({ TimeoutError: 1 });
  });

  test('may have been applied', async () => {
    const { clock, producer } = producerOnFakeStream({ requestFate: () => 'silent' }, { maxAttempts: 1 });
    await expect(clock.runUntil(producer.put(record('a')))).rejects.toMatchObject({
      serviceCode: 'TimeoutError',
      mayHaveBeenWritten: true,
      message: expect.stringContaining('no response within 10000 ms'),
    });
  });

  test('ends even if its client never hears of the abort', async () => {
    const clock = new VirtualClock();
    const client: PutRecordsClient = { putRecords: () => new Promise(() => {}) };
    const producer = new OrderedProducer(client, { streamName: 'Events', clock, maxAttempts: 1 });
    await expect(clock.runUntil(producer.put(record('a')))).rejects.toMatchObject({ code: 'RECORD_REJECTED' });
    await clock.runUntil(producer.close());
  });

  test('is given up in its time when sent by PutRecord, too', async () => {
    const { clock, producer } = producerOnFakeStream(
      { requestFate: firstRequests('silent') },
      { sequentialPuts: true, requestTimeoutMs: 500 },
    );
    await expect(clock.runUntil(producer.put(record('a')))).resolves.toMatchObject({ attempts: 2 });
  });

  test('for the shard map holds up nothing', async () => {
    const { clock, kinesis, producer } = producerOnFakeStream({ shardCount: 8, callFate: () => 'silent' });
    await clock.runUntil(producer.putAll(Array.from({ length: 20_000 }, (_, index) => record(String(index)))));
    await clock.runUntil(clock.sleep(10_000));
    await clock.runUntil(producer.putAll(Array.from({ length: 20_000 }, (_, index) => record(String(index)))));
    expect(kinesis.allData()).toHaveLength(40_000);
    expect(kinesis.mostInFlight).toBeGreaterThan(1);
  });

  test('for the size limit leaves that of every stream', async () => {
    const { clock, producer } = producerOnFakeStream({ callFate: () => 'silent' });
    const tooLarge = { partitionKey: 'a', data: Buffer.alloc(1024 * 1024) };
    await expect(clock.runUntil(producer.put(tooLarge))).rejects.toMatchObject({ code: 'RECORD_TOO_LARGE' });
    expect(clock.nowMs).toBe(10_000);
  });

  test('of the SDK is aborted, and its connection closed', async () => {
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

describe('what waits behind a unit in flight', () => {
  const silence = { requestFate: () => 'silent' as const };

  test.each([
    [false, 1],
    [true, 2],
  ])('is rejected at once by an abort, with aggregation: %s', async (aggregation, inFlight) => {
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

  test('is rejected at its age, and the records behind it with it', async () => {
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

  test('is rejected at its age record by record with skipRejected', async () => {
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

  test('is waited for by a flush, as is the unit, whichever ends first', async () => {
    const { clock, producer } = producerOnFakeStream(silence, { maxRecordAgeMs: 1_000, maxAttempts: 1 });
    const puts = ['1', '2'].map((data) => producer.put(record('a', data)));
    const flush = producer.flush('a').then(() => clock.nowMs);
    expect(codes(await clock.runUntil(Promise.allSettled(puts)))).toEqual(['RECORD_REJECTED', 'RECORD_EXPIRED']);
    expect(await clock.runUntil(flush)).toBe(10_000);
  });

  test('and is put after a rejection waits for the unit', async () => {
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

describe('a malformed answer', () => {
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
  ])('of %s', (_, sequentialPuts) => {
    test.each(ANSWERS)('with %s acknowledges nothing: its records are sent again', async (malformed) => {
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
  ] as const)('with %s is told of: %s', async (malformed, message) => {
    const { clock, producer } = producerOnFakeStream({ requestFate: () => ({ malformed }) }, { maxAttempts: 1 });
    await expect(clock.runUntil(producer.put(record('a')))).rejects.toThrow(message);
  });

  test('for one record leaves the others their receipts', async () => {
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

  test('with an error and a sequence number leaves open which is true', async () => {
    const clock = new VirtualClock();
    const client: PutRecordsClient = {
      putRecords: async () => ({ Records: [{ ErrorCode: 'InternalFailure', ShardId: 's', SequenceNumber: '1' }] }),
    };
    const producer = new OrderedProducer(client, { streamName: 'Events', clock, maxAttempts: 1 });
    await expect(clock.runUntil(producer.put(record('a')))).rejects.toMatchObject({ mayHaveBeenWritten: true });
  });

  test('that the SDK cannot read leaves open whether its records were written', async () => {
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
  ])('goes with %j, whether or not the stream can be asked for its limit: %i bytes', async (options, bytes) => {
    const { clock, kinesis } = producerOnFakeStream();
    const large = { partitionKey: 'a', data: Buffer.alloc(bytes) };
    const client = { putRecords: (input: Parameters<typeof kinesis.putRecords>[0]) => kinesis.putRecords(input) };
    for (const each of [client, kinesis]) {
      const producer = new OrderedProducer(each, { streamName: 'Events', clock, ...options });
      await expect(clock.runUntil(producer.put(large))).resolves.toMatchObject({ attempts: 1 });
    }
  });

  test('goes as it is without aggregation, though it begins as an aggregate does', async () => {
    const { clock, producer } = producerOnFakeStream();
    const data = Buffer.alloc(MIB - 1);
    data.set([0xf3, 0x89, 0x9a, 0xc2]);
    await expect(clock.runUntil(producer.put({ partitionKey: 'a', data }))).resolves.toMatchObject({ attempts: 1 });
  });

  test.each([[undefined], [{ StreamDescriptionSummary: { MaxRecordSizeInKiB: null } }]])(
    'goes when the answer about the limit is malformed: %j',
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
