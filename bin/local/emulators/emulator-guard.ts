import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parentPort } from 'node:worker_threads';
import { foreignRequestProblem, listenOnLoopback } from '../loopback';

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
  void listenOnLoopback(server).then(() => parentPort!.postMessage((server.address() as AddressInfo).port));
}
