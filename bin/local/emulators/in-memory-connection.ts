import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { Server, Socket } from 'node:net';
import { Duplex, pipeline } from 'node:stream';

/**
 * Passes each request to a server that does not listen, over a connection in memory. The request can be of HTTP/2, and
 * the server always receives HTTP/1.1.
 */
export function served(by: Server): (request: Incoming, response: Outgoing) => void {
  return (request, response) => {
    const { method, url: path, authority } = request as Http2ServerRequest;
    const own = Object.entries(request.headers).filter(([name]) => !name.startsWith(':'));
    const headers = { host: authority, ...Object.fromEntries(own), connection: 'close' };
    const sent = httpRequest({ method, path, headers, createConnection: () => connectionTo(by) });
    sent.once('response', (answer) => {
      const kept = Object.entries(answer.headers).filter(([name]) => !OF_THE_CONNECTION.has(name));
      (response as ServerResponse).writeHead(answer.statusCode!, Object.fromEntries(kept));
      pipeline(answer, response, () => {});
    });
    response.once('close', () => sent.destroy());
    request
      .once('error', () => sent.destroy())
      .pipe(sent, { end: false })
      .once('error', () => response.destroy());
    // A stream of HTTP/2 also ends if the client resets the stream.
    request.once('end', () => ((request as Http2ServerRequest).stream?.rstCode ? sent.destroy() : sent.end()));
  };
}

type Incoming = IncomingMessage | Http2ServerRequest;
type Outgoing = ServerResponse | Http2ServerResponse;

/** HTTP/2 does not have these headers. */
const OF_THE_CONNECTION = new Set(['connection', 'keep-alive', 'transfer-encoding']);

/** A connection to a server, in memory, for one request. */
export function connectionTo(server: Server): Socket {
  const [client, accepted] = [new InMemorySocket(), new InMemorySocket()];
  client.other = accepted;
  accepted.other = client;
  server.emit('connection', accepted);
  return client as unknown as Socket;
}

/**
 * One end of a connection in memory. The other end receives all written bytes. Writes wait until the other end reads.
 */
class InMemorySocket extends Duplex {
  readonly remoteAddress = '127.0.0.1';
  readonly remoteFamily = 'IPv4';
  readonly remotePort = 1;
  readonly localAddress = '127.0.0.1';
  readonly localPort = 1;
  other!: InMemorySocket;
  private onRead?: () => void;

  override _read(): void {
    const { onRead } = this;
    this.onRead = undefined;
    onRead?.();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (this.other.push(chunk)) done();
    else this.other.onRead = done;
  }

  override _final(done: () => void): void {
    this.other.push(null);
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.other.destroy();
    done(error);
  }

  // HTTP servers and clients call these methods of a network socket.
  setNoDelay = (): this => this;
  setKeepAlive = (): this => this;
  setTimeout = (): this => this;
  ref = (): this => this;
  unref = (): this => this;
}
