import type { IncomingHttpHeaders } from 'node:http';

/**
 * Why a request is refused by whatever listens on this machine for a local run; undefined for one that is not. Any site
 * that is open in a browser can send requests to the loopback interface, and read the answers under a name that it has
 * pointed here. A browser names the site in `Origin`, and that name in `Host`.
 */
export function foreignRequestProblem({ host = '', origin }: IncomingHttpHeaders): string | undefined {
  if (origin !== undefined) return 'requests of web pages are refused';
  if (/^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/.test(host)) return undefined;
  return `host ${host.slice(0, 100)} is not this machine: use 127.0.0.1`;
}
