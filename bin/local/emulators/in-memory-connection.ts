import { request as httpRequest, type RequestListener } from 'node:http';
import type { Server, Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** Passes each request to a server that does not listen, over a connection in memory. */
export function served(by: Server): RequestListener {
  return (request, response) => {
    const { method, url: path } = request;
    const headers = { ...request.headers, connection: 'close' };
    const sent = httpRequest({ method, path, headers, createConnection: () => connectionTo(by) });
    sent.once('response', (answer) => {
      const { connection: _, ...kept } = answer.headers;
      response.writeHead(answer.statusCode!, kept);
      answer.pipe(response);
    });
    sent.once('error', () => response.destroy());
    request.once('error', () => sent.destroy());
    request.pipe(sent);
  };
}

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
