import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { Kinesis } from '@aws-sdk/client-kinesis';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { OrderedProducer } from '../../../../lib/core';
import type { RequestFate } from '../../../../lib/testing/fake-kinesis';
import { VirtualClock } from '../../../../lib/testing/virtual-clock';
import { codesOf, producerOnFakeStream, record } from './producer-on-fake-stream';

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
    expect(codesOf(await clock.runUntil(Promise.allSettled(puts.slice(inFlight))))).toEqual([
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

  test('delay a flush, which waits for these records and for the batch entry in flight', async () => {
    const { clock, producer } = producerOnFakeStream(silence, { maxRecordAgeMs: 1_000, maxAttempts: 1 });
    const puts = ['1', '2'].map((data) => producer.put(record('a', data)));
    const flush = producer.flush('a').then(() => clock.nowMs);
    expect(codesOf(await clock.runUntil(Promise.allSettled(puts)))).toEqual(['RECORD_REJECTED', 'RECORD_EXPIRED']);
    expect(await clock.runUntil(flush)).toBe(10_000);
  });
});
