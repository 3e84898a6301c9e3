import { once } from 'node:events';
import type { IncomingHttpHeaders, Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * Why the servers of a local run refuse a request; undefined if they do not. Any site that is open in a browser can send
 * requests to the loopback interface, and read the answers under a name that it has pointed here. A browser names the site
 * in `Origin`, and that name in `Host`.
 */
export function foreignRequestProblem({ host = '', origin }: IncomingHttpHeaders): string | undefined {
  if (origin !== undefined) return 'requests of web pages are refused';
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

/** Closes a server and its connections, which clients would keep open. */
export async function closeServer(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}
