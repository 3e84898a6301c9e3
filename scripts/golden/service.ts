import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The operations of a stand-in for Kinesis and DynamoDB, by their names in the SDK. */
export type Operations = Record<string, (input: never) => unknown>;

/** A server for the JSON protocol of Kinesis and DynamoDB. */
export async function startService(operations: () => Operations) {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const [, operation = ''] = String(request.headers['x-amz-target']).split('.');
    const name = `${operation[0]?.toLowerCase()}${operation.slice(1)}`;
    try {
      const call = operations()[name];
      if (call === undefined) throw new Error(`the stand-in has no ${name}`);
      const result = await call(JSON.parse(Buffer.concat(chunks).toString()) as never);
      response.end(JSON.stringify(result ?? {}, inSeconds));
    } catch (error) {
      const { name: code, message, Item } = error as Error & { Item?: object };
      response.statusCode = 400;
      response.end(JSON.stringify({ __type: code, message, Item }));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { endpoint: `http://127.0.0.1:${port}`, close: () => server.close() };
}

/** The protocol writes a time as seconds since 1970. */
function inSeconds(this: Record<string, unknown>, name: string, value: unknown): unknown {
  const original = this[name];
  return original instanceof Date ? original.getTime() / 1_000 : value;
}
