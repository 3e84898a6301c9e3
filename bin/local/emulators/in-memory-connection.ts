import type { Server, Socket } from 'node:net';
import { Duplex } from 'node:stream';

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
