import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parentPort } from 'node:worker_threads';
import { foreignRequestProblem } from '../loopback';

// What else the threads of emulators need: it is one file when it is built.
export { served } from './in-memory-connection';
export { withTransactions } from './transactions';

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
