import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface LoopbackServer {
  readonly endpoint: string;
  stop(): void;
}

/** Starts a server on the loopback interface, for the behaviour that no emulator has. */
export async function startServer(
  respond: (response: ServerResponse, body: string, request: IncomingMessage) => unknown,
): Promise<LoopbackServer> {
  const server = createServer(async (request, response) => respond(response, await text(request), request));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const stop = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop };
}

/** Starts a service with the JSON protocol of AWS. An output with `__type` is an error. */
export function startJsonService(respond: (operation: string, input: never) => object): Promise<LoopbackServer> {
  return startServer((response, body, { headers }) => {
    const output = respond(String(headers['x-amz-target']).split('.').at(-1)!, JSON.parse(body) as never);
    sendJson(response, output);
  });
}

export function sendJson(response: ServerResponse, output: object): void {
  response.writeHead('__type' in output ? 400 : 200, { 'content-type': 'application/x-amz-json-1.1' });
  response.end(JSON.stringify(output));
}

/** The output of Secrets Manager for a user of the embedded Postgres. */
export const SECRET = { SecretString: JSON.stringify({ username: 'postgres', password: 'postgres' }) };

/**
 * The output of PutRecords if Kinesis stores all records but the records of the rejected partition keys. Other operations of Kinesis
 * have an output without their fields.
 */
export function putRecordsOutput(
  { Records = [] }: { Records?: readonly { PartitionKey: string }[] },
  isRejected = (_partitionKey: string) => false,
): object {
  const results = Records.map(({ PartitionKey }, index) =>
    isRejected(PartitionKey)
      ? { ErrorCode: 'KMSAccessDeniedException', ErrorMessage: 'denied' }
      : { ShardId: 'shardId-000000000000', SequenceNumber: String(index) },
  );
  return { FailedRecordCount: 0, Records: results };
}
