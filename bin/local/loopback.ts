import { once } from 'node:events';
import type { IncomingHttpHeaders, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ENDPOINT_VARIABLES, serviceOfHost } from './functions/aws-endpoint';
import { acceptHttp2 } from './http2-without-tls';

/**
 * The reason why the servers of a local run reject a request. Undefined if the servers accept the request. A web site
 * in a browser can send requests to the loopback interface, and can read the responses if its domain name resolves to
 * this machine. The browser sends the site in `Origin` and the domain name in `Host`. No site has a domain name of an
 * endpoint of AWS, which functions with an older SDK send.
 */
export function foreignRequestProblem({ host = '', origin }: IncomingHttpHeaders): string | undefined {
  if (origin !== undefined) return 'requests from web pages are rejected';
  const name = host.replace(/:\d+$/, '');
  if (OWN_NAMES.includes(name) || Object.hasOwn(ENDPOINT_VARIABLES, serviceOfHost(name) ?? '')) return undefined;
  return `host ${host.slice(0, 100)} is not this machine: use 127.0.0.1`;
}

const OWN_NAMES = ['127.0.0.1', 'localhost', '[::1]'];

/**
 * Listens on the loopback interface, for HTTP/1.1 and for HTTP/2 without TLS. Port 0 selects a free port. Rejects if the
 * server cannot listen on the port.
 */
export async function listenOnLoopback(server: Server, port = 0): Promise<void> {
  acceptHttp2(server);
  // Clients keep idle connections longer than the default timeout of Node.js. With the default, clients would use
  // closed connections.
  server.keepAliveTimeout = 60_000;
  server.listen({ port, host: '127.0.0.1' });
  await once(server, 'listening');
}

export function endpointOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Closes a server and its connections, because clients keep idle connections open. */
export async function closeServer(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}
