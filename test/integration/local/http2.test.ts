import { createServer, request, type Server } from 'node:http';
import { connect, constants } from 'node:http2';
import { connect as connectSocket } from 'node:net';
import { text } from 'node:stream/consumers';
import { Kinesis, waitUntilStreamExists } from '@aws-sdk/client-kinesis';
import { LOCAL_REGION } from '../../../bin/local/assembly/emulated-types';
import { startKinesisEmulator } from '../../../bin/local/emulators/kinesis-emulator';
import { LOCAL_CREDENTIALS } from '../../../bin/local/functions/lambda-environment';
import { startGates } from '../../../bin/local/limits/gates';
import { closeServer, endpointOf, listenOnLoopback } from '../../../bin/local/loopback';

describe("the SDK's default client of Kinesis", () => {
  let emulator: Awaited<ReturnType<typeof startKinesisEmulator>>;
  let gates: Awaited<ReturnType<typeof startGates>>;
  beforeAll(async () => {
    emulator = await startKinesisEmulator();
    gates = await startGates({ kinesis: emulator.endpoint, dynamodb: emulator.endpoint }, { limits: 1_000 });
  }, 60_000);
  afterAll(async () => {
    await gates.stop();
    await emulator.stop();
  });

  test.each([
    ['an emulator', 5, () => emulator.endpoint, 'Direct'],
    ['a gate', 1, () => gates.endpoints.kinesis, 'Gated'],
  ])('sends %s a request of %d MB, and parallel requests', async (_, megabytes, endpoint, StreamName) => {
    const kinesis = new Kinesis({ endpoint: endpoint(), region: LOCAL_REGION, credentials: LOCAL_CREDENTIALS });
    await kinesis.createStream({ StreamName, ShardCount: 1 });
    const Data = Buffer.alloc(megabytes * 100_000, 'x');
    await waitUntilStreamExists({ client: kinesis, maxWaitTime: 30, minDelay: 0.02, maxDelay: 0.1 }, { StreamName });
    const Records = Array.from({ length: 10 }, (_, index) => ({ PartitionKey: `${index}`, Data }));
    expect(await kinesis.putRecords({ StreamName, Records })).toMatchObject({ FailedRecordCount: 0 });
    const put = (index: number) => kinesis.putRecord({ StreamName, PartitionKey: `${index}`, Data: Buffer.from('x') });
    const results = await Promise.all(Array.from({ length: 20 }, (_, index) => put(index)));
    expect(new Set(results.map(({ SequenceNumber }) => SequenceNumber)).size).toBe(20);
    kinesis.destroy();
  });
});

describe('a server of a local run', () => {
  let server: Server;
  let aborted = 0;
  beforeEach(async () => {
    aborted = 0;
    server = createServer((incoming, response) => {
      response.once('close', () => {
        if (!response.writableFinished) aborted += 1;
      });
      text(incoming).then(
        (body) => body === 'body' && response.end(`${incoming.httpVersion} ${incoming.headers.host} ${body}`),
        () => {},
      );
    });
    await listenOnLoopback(server);
  });

  test('serves HTTP/1.1 and HTTP/2 on one port, also if the first bytes arrive one by one', async () => {
    const host = endpointOf(server).slice('http://'.length);
    const session = connect(endpointOf(server));
    const stream = session.request({ ':method': 'POST' });
    stream.end('body');
    expect(await text(stream)).toBe(`2.0 ${host} body`);
    session.close();
    const socket = connectSocket(Number(host.split(':')[1]), '127.0.0.1');
    for (const byte of `POST / HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\ncontent-length: 4\r\n\r\nbody`) {
      socket.write(byte);
      await new Promise(setImmediate);
    }
    expect(await text(socket)).toContain(`1.1 ${host} body`);
    await closeServer(server);
  });

  test('ends a request if its client of HTTP/2 closes the stream or the connection', async () => {
    const session = connect(endpointOf(server));
    for (const end of ['stream', 'connection']) {
      const before = aborted;
      const stream = session.request({ ':method': 'POST' });
      stream.on('error', () => {}).write('the first part');
      await new Promise((resolve) => setTimeout(resolve, 50));
      if (end === 'stream') stream.close(constants.NGHTTP2_CANCEL);
      else session.destroy();
      while (aborted === before) await new Promise(setImmediate);
    }
    await closeServer(server);
  });

  test('closes all connections when it stops, including connections without a request', async () => {
    const session = connect(endpointOf(server));
    const { hostname, port } = new URL(endpointOf(server));
    const silent = connectSocket(Number(port), hostname);
    const open = request(endpointOf(server), { method: 'POST' }).on('error', () => {});
    open.write('the first part');
    for (const each of [session, silent]) each.on('error', () => {});
    await Promise.all([session, silent].map((each) => new Promise((resolve) => each.once('connect', resolve))));
    const closed = Promise.all([session, silent].map((each) => new Promise((resolve) => each.once('close', resolve))));
    await closeServer(server);
    await closed;
  });
});
