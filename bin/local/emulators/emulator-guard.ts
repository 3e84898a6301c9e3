import { createServer, request as httpRequest, type RequestListener } from 'node:http';
import type { AddressInfo, Server, Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { parentPort } from 'node:worker_threads';
import { foreignRequestProblem } from '../functions/foreign-request';

/** Listens before an emulator, in its thread: refuses what is foreign, and tells the port that it has. */
export function guard(serve: RequestListener): void {
  const server = createServer((request, response) => {
    const problem = foreignRequestProblem(request.headers);
    if (problem === undefined) return serve(request, response);
    response.writeHead(403, { 'content-type': 'application/x-amz-json-1.1' });
    response.end(JSON.stringify({ __type: 'AccessDeniedException', message: problem }));
  });
  // A client keeps its connections longer than Node.js does by itself, and would meet closed ones.
  server.keepAliveTimeout = 60_000;
  server.listen({ port: 0, host: '127.0.0.1' }, () => parentPort!.postMessage((server.address() as AddressInfo).port));
}

const TRANSACTIONS = ['TransactWriteItems', 'TransactGetItems'];

/** Answers transactions for dynalite, which has none and calls them an unknown error. */
export function withoutTransactions(serve: RequestListener): RequestListener {
  return (request, response) => {
    const operation = String(request.headers['x-amz-target']).split('.').at(-1)!;
    if (!TRANSACTIONS.includes(operation)) return serve(request, response);
    const message =
      `dynalite, on which this runs, has no ${operation}: install dynoxide, ` +
      'or run with --dynamodb-endpoint on another emulator that has transactions, such as DynamoDB Local';
    request.resume();
    response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' });
    response.end(JSON.stringify({ __type: 'UnknownOperationException', message }));
  };
}

/** Serves by a server that does not listen: it gets a connection in memory for each request. */
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

function connectionTo(server: Server): Socket {
  const [client, accepted] = [new InMemorySocket(), new InMemorySocket()];
  client.other = accepted;
  accepted.other = client;
  server.emit('connection', accepted);
  return client as unknown as Socket;
}

/** One end of a connection in memory: what is written comes out of the other, no faster than that is read. */
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

  // What servers and clients ask of a socket of the network.
  setNoDelay = (): this => this;
  setKeepAlive = (): this => this;
  setTimeout = (): this => this;
  ref = (): this => this;
  unref = (): this => this;
}
