import { once } from 'node:events';
import type { IncomingHttpHeaders, Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * The reason why the servers of a local run reject a request. Undefined if the servers accept the request. A web site
 * in a browser can send requests to the loopback interface, and can read the responses if its domain name resolves to
 * this machine. The browser sends the site in `Origin` and the domain name in `Host`.
 */
export function foreignRequestProblem({ host = '', origin }: IncomingHttpHeaders): string | undefined {
  if (origin !== undefined) return 'requests from web pages are rejected';
  if (/^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/.test(host)) return undefined;
  return `host ${host.slice(0, 100)} is not this machine: use 127.0.0.1`;
}

/** Listens on a free port of the loopback interface. */
export async function listenOnLoopback(server: Server): Promise<void> {
  server.listen(0, '127.0.0.1');
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
