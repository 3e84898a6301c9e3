import { once } from 'node:events';
import { createServer, type Http2Server, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Kinesis } from '@aws-sdk/client-kinesis';
import { lightPutClient } from '../../../../lib/core';
import { requestSigner } from '../../../../lib/core/aws-client/signature';
import { mayHaveBeenApplied } from '../../../../lib/core/producer/retry';

const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret', sessionToken: 'token' };
const INPUT = { StreamName: 'orders', Records: [{ Data: Buffer.from('grün'), PartitionKey: 'schlüssel' }] };
const OUTPUT = { FailedRecordCount: 0, Records: [{ SequenceNumber: '7', ShardId: 'shardId-000000000000' }] };

/** The Kinesis client of the SDK uses HTTP/2 by default, so a light client must support HTTP/2. */
describe('a light client over HTTP/2', () => {
  let server: Http2Server;
  let kinesis: Kinesis;
  let requests: { headers: IncomingHttpHeaders; body: string }[];
  let respond: (stream: ServerHttp2Stream) => unknown;

  beforeEach(async () => {
    requests = [];
    respond = (stream) => stream.end(JSON.stringify(OUTPUT));
    server = createServer().on('stream', async (stream, headers) => {
      requests.push({ headers, body: await text(stream) });
      stream.respond();
      respond(stream);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    kinesis = new Kinesis({ region: 'eu-west-3', endpoint, credentials, maxAttempts: 1 });
    jest.spyOn(process, 'emitWarning').mockReturnValue(undefined);
  });

  afterEach(() => {
    jest.restoreAllMocks();
    kinesis.destroy();
    server.close();
  });

  test('signs the request that the server receives, returns the response, and treats a truncated response as a lost response', async () => {
    const light = lightPutClient(kinesis);
    for (const _ of ['by the SDK', 'by itself']) await expect(light.putRecords(INPUT)).resolves.toMatchObject(OUTPUT);
    expect(requests.map(({ headers }) => 'amz-sdk-request' in headers)).toEqual([true, false]);
    for (const { headers, body } of requests) {
      const names = /SignedHeaders=([^,]+)/.exec(headers.authorization!)![1]!.split(';');
      expect(names).toContain(':authority');
      const received = Object.fromEntries(names.map((name) => [name, String(headers[name])]));
      const at = String(headers['x-amz-date']).replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5');
      const sign = requestSigner({ region: 'eu-west-3', service: 'kinesis' }, received);
      expect(sign(body, credentials, new Date(at)).authorization).toBe(headers.authorization);
      expect(JSON.parse(body)).toMatchObject({ StreamName: 'orders' });
    }

    respond = (stream) => stream.write('{"Records":[', () => stream.destroy());
    const error = await light.putRecords(INPUT).catch((thrown) => thrown);
    expect([requests.length, mayHaveBeenApplied(error)]).toEqual([3, true]);
  });
});
