import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parentPort } from 'node:worker_threads';
import { listenOnLoopback } from '../loopback';
import { servedDynalite } from './dynalite-gate';
import { APIS, gatedService, Service } from './gated-service';
import { connectionTo } from './in-memory-connection';
import { GATED_BY_SHARD_COUNT, ShardCountGate } from './shard-count-gate';

/** The thread of an emulator calls one of these functions. Each function listens in front of the emulator. */

export function guardKinesis(emulator: Server): void {
  const service = new Service(APIS.kinesis, { createConnection: () => connectionTo(emulator) });
  listen(gatedService(service, GATED_BY_SHARD_COUNT, new ShardCountGate(service.call).pass));
}

export function guardDynamoDb(dynalite: Server): void {
  listen(servedDynalite(dynalite));
}

/** Listens on a free port, and posts the port to the main thread. */
function listen(serve: RequestListener): void {
  const server = createServer(serve);
  void listenOnLoopback(server).then(() => parentPort!.postMessage((server.address() as AddressInfo).port));
}
