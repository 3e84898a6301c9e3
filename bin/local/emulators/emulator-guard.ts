import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parentPort } from 'node:worker_threads';
import { foreignRequestProblem } from '../loopback';

export { withExpressionLimits } from './expression-limits';
// The threads of emulators also load these modules from this file, because the build bundles the modules into this
// file.
export { served } from './in-memory-connection';
export { withTransactions } from './transactions';

/**
 * Listens in front of an emulator, in the emulator's thread. Rejects requests from web pages or for other host names,
 * and posts its port to the main thread.
 */
export function guard(serve: RequestListener): void {
  const server = createServer((request, response) => {
    const problem = foreignRequestProblem(request.headers);
    if (problem === undefined) return serve(request, response);
    response.writeHead(403, { 'content-type': 'application/x-amz-json-1.1' });
    response.end(JSON.stringify({ __type: 'AccessDeniedException', message: problem }));
  });
  // Clients keep idle connections longer than the default timeout of Node.js. With the default, clients would use
  // closed connections.
  server.keepAliveTimeout = 60_000;
  server.listen({ port: 0, host: '127.0.0.1' }, () => parentPort!.postMessage((server.address() as AddressInfo).port));
}
