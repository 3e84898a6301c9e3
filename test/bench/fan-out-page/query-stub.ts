import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type TLSSocket } from 'node:tls';
import { crc32 } from 'node:zlib';

/** A fake DynamoDB in another process. It responds to every Query over TLS after a fixed time. */
interface QueryStub {
  readonly endpoint: string;
  stop(): void;
}

/** With this argument, the program that calls `startQueryStub` must call `serveQueries` instead. */
export const STUB = 'stub';

export async function startQueryStub(program: string, latencyMs: number): Promise<QueryStub> {
  const child: ChildProcess = fork(program, [STUB, String(latencyMs)]);
  const [port] = await once(child, 'message');
  return { endpoint: `https://127.0.0.1:${port}`, stop: () => child.disconnect() };
}

/** Returns the key or the certificate that dynalite contains. Clients must accept the certificate without verification. */
const certificate = (name: string) => readFileSync(require.resolve(`dynalite/ssl/server-${name}.pem`));

/**
 * Runs in the process of the stub. It parses requests itself and creates each response only once, to leave the
 * processor to the measured client.
 */
export function serveQueries(latencyMs: number): void {
  const server = createServer({ key: certificate('key'), cert: certificate('crt') }, (socket: TLSSocket) => {
    let unread = Buffer.alloc(0);
    socket.setNoDelay(true);
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      unread = Buffer.concat([unread, chunk]);
      const end = unread.indexOf('\r\n\r\n');
      const length = Number(/content-length: *(\d+)/i.exec(unread.toString('latin1', 0, Math.max(0, end)))?.[1]);
      if (end < 0 || unread.length < end + 4 + length) return;
      const response = responseTo(JSON.parse(unread.toString('utf8', end + 4)));
      unread = Buffer.alloc(0);
      setTimeout(() => socket.write(response), latencyMs);
    });
  });
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as { port: number }).port));
  process.on('disconnect', () => process.exit());
}

interface Query {
  Limit: number;
  ExpressionAttributeValues: Record<string, { N?: string; S?: string }>;
}

const responses = new Map<string, Buffer>();

/** The first items of a shard. The value is the number of shards N, and item i of shard s has the number i * N + s. */
export function responseTo({ Limit, ExpressionAttributeValues }: Query): Buffer {
  const values = Object.values(ExpressionAttributeValues);
  const shard = Number(values.find(({ N }) => N !== undefined)?.N);
  const value = values.find(({ S }) => S !== undefined)?.S;
  const key = `${value} ${shard} ${Limit}`;
  const response = responses.get(key) ?? httpResponse(firstItems(Limit, shard, String(value)));
  responses.set(key, response);
  return response;
}

function firstItems(count: number, shard: number, value: string): object {
  const Items = Array.from({ length: count }, (_, index) => ({
    jobId: { S: `job-${shard}-${index}` },
    status: { S: value },
    createdAt: { S: new Date(1_600_000_000_000 + (index * Number(value) + shard) * 1000).toISOString() },
    byStatusShard: { N: String(shard) },
    attempts: { N: '3' },
    details: { S: 'x'.repeat(170) },
  }));
  const { details, attempts, ...LastEvaluatedKey } = Items.at(-1)!;
  return { Items, Count: count, ScannedCount: count, LastEvaluatedKey, ConsumedCapacity: { CapacityUnits: 0.5 } };
}

function httpResponse(body: object): Buffer {
  const json = Buffer.from(JSON.stringify(body));
  const head = [
    'HTTP/1.1 200 OK',
    'Server: Server',
    `Date: ${new Date().toUTCString()}`,
    'Content-Type: application/x-amz-json-1.0',
    `Content-Length: ${json.length}`,
    'Connection: keep-alive',
    'x-amzn-RequestId: 00000000-0000-0000-0000-000000000000',
    `x-amz-crc32: ${crc32(json)}`,
  ];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), json]);
}
