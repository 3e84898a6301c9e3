import type { Server } from 'node:http';
import { createServer } from 'node:http2';
import type { Socket } from 'node:net';

/**
 * The first bytes of an HTTP/2 connection, the connection preface. No request of HTTP/1.1 to these servers has a method
 * with these bytes. Source: RFC 9113, section 3.4.
 */
const PREFACE = Buffer.from('PRI');

/**
 * Lets an HTTP/1.1 server also accept HTTP/2 without TLS, on the same port. The SDK's default client of Kinesis speaks
 * HTTP/2, and does not negotiate the protocol without TLS.
 */
export function acceptHttp2(server: Server): void {
  const http2 = createServer((request, response) => {
    request.headers.host = request.authority;
    // Without this listener, a request would end as usual if the client resets its stream.
    request.once('aborted', () => request.destroy().stream.destroy());
    server.emit('request', request, response);
  });
  const http1 = server.listeners('connection');
  const sockets = new Set<Socket>();
  server.removeAllListeners('connection').on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket)).on('error', () => socket.destroy());
    const choose = (): void => {
      const start: Buffer | null = socket.read();
      // The client has closed the connection, or has sent only a part of the preface.
      if (start === null) return;
      socket.unshift(start);
      if (start.length < PREFACE.length && PREFACE.indexOf(start) === 0) return;
      socket.off('readable', choose);
      const isHttp2 = start.subarray(0, PREFACE.length).equals(PREFACE);
      // Servers of HTTP/1.1 keep a connection that its client has half closed. Sessions of HTTP/2 would never end.
      socket.allowHalfOpen = !isHttp2;
      if (isHttp2) http2.emit('connection', socket);
      else for (const listener of http1) listener.call(server, socket);
    };
    socket.on('readable', choose);
  });
  // A server knows only its connections of HTTP/1.1.
  server.closeAllConnections = () => {
    for (const socket of sockets) socket.destroy();
  };
}
