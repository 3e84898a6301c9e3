import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { Client } from 'cassandra-driver';
import { CERTIFICATE_AUTHORITIES } from '../../../../lambda/keyspaces-query-fanout/certificate-authorities';
import { clientOptions } from '../../../../lambda/keyspaces-query-fanout/keyspaces-client';
import { SigV4AuthProvider } from '../../../../lambda/keyspaces-query-fanout/sigv4-authenticator';

describe('the client of the query function', () => {
  test.each([
    ['eu-west-1', 'cassandra.eu-west-1.amazonaws.com'],
    ['cn-north-1', 'cassandra.cn-north-1.amazonaws.com.cn'],
  ])('in %s connects to %s over TLS, and verifies the host name', (region, host) => {
    expect(clientOptions(region)).toMatchObject({
      contactPoints: [host],
      localDataCenter: region,
      protocolOptions: { port: 9142 },
      sslOptions: { servername: host, rejectUnauthorized: true, ca: CERTIFICATE_AUTHORITIES },
    });
  });

  // Source of the fingerprints: the certificate repositories of Amazon Trust Services and of Starfield.
  test('trusts only the root certificates of Amazon and Starfield', () => {
    const fingerprints = CERTIFICATE_AUTHORITIES.map((pem) => new X509Certificate(pem).fingerprint256.slice(0, 11));
    expect(fingerprints).toEqual(['8E:CD:E6:88', '1B:A5:B2:AA', '18:CE:6C:FE', 'E3:5D:28:41', '14:65:FA:20']);
  });

  test('does not let the driver decode a varint to a bigint, because a long varint would block the process for seconds', () => {
    expect(clientOptions('eu-west-1').encoding).not.toHaveProperty('useBigIntAsVarint');
  });

  test('has options that the driver accepts', async () => {
    const client = new Client(clientOptions('eu-west-1'));
    await client.shutdown();
  });

  test('signs the challenge of a server', async () => {
    const responses: string[] = [];
    const server = createServer((socket) => challenge(socket, responses));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const credentials = { accessKeyId: 'UserID-1', secretAccessKey: 'UserSecretKey-1' };
    const client = new Client({
      contactPoints: [`127.0.0.1:${(server.address() as AddressInfo).port}`],
      localDataCenter: 'us-west-2',
      protocolOptions: { maxVersion: 4 },
      authProvider: new SigV4AuthProvider(
        'us-west-2',
        async () => credentials,
        () => new Date(1591742511000),
      ),
    });
    await expect(client.connect()).rejects.toThrow();
    await client.shutdown();
    server.close();
    expect(responses.slice(0, 2)).toEqual([
      'SigV4\0\0',
      'signature=7f3691c18a81b8ce7457699effbfae5b09b4e0714ab38c1292dbdf082c9ddd87,' +
        'access_key=UserID-1,amzdate=2020-06-09T22:41:51.000Z',
    ]);
  });
});

/** Opcodes of the CQL binary protocol, version 4. */
const [ERROR, STARTUP, AUTHENTICATE, OPTIONS, SUPPORTED, AUTH_CHALLENGE, AUTH_RESPONSE] = [0, 1, 3, 5, 6, 14, 15];

/** A server that sends one challenge and then an error. This is enough to record how the client authenticates. */
function challenge(socket: Socket, responses: string[]): void {
  let received = Buffer.alloc(0);
  let answered = 0;
  socket.on('error', () => undefined);
  socket.on('data', (data) => {
    received = Buffer.concat([received, data]);
    while (received.length >= 9 && received.length >= 9 + received.readInt32BE(5)) {
      const length = received.readInt32BE(5);
      const [stream, opcode, body] = [received.subarray(2, 4), received[4], received.subarray(9, 9 + length)];
      const reply = (code: number, payload: Buffer): void => {
        const size = Buffer.alloc(4);
        size.writeInt32BE(payload.length);
        socket.write(Buffer.concat([Buffer.of(0x84, 0), stream, Buffer.of(code), size, payload]));
      };
      if (opcode === OPTIONS) reply(SUPPORTED!, Buffer.of(0, 0));
      else if (opcode === STARTUP) reply(AUTHENTICATE!, text('a.b.Authenticator'));
      else if (opcode === AUTH_RESPONSE) {
        responses.push(body.subarray(4).toString());
        answered += 1;
        const nonce = Buffer.from('nonce=91703fdc2ef562e19fbdab0f58e42fe5');
        if (answered === 1) reply(AUTH_CHALLENGE!, Buffer.concat([Buffer.of(0, 0, 0, nonce.length), nonce]));
        else reply(ERROR!, Buffer.concat([Buffer.of(0, 0, 1, 0), text('no')]));
      }
      received = received.subarray(9 + length);
    }
  });
}

function text(of: string): Buffer {
  return Buffer.concat([Buffer.of(0, of.length), Buffer.from(of)]);
}
