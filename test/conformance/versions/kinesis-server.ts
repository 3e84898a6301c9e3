import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { systemClock } from '../../../lib/core/kernel/clock';
import { FakeKinesis } from '../../../lib/testing/fake-kinesis';
import type { VirtualClock } from '../../../lib/testing/virtual-clock';

interface PutRecords {
  StreamName: string;
  Records: { PartitionKey: string; ExplicitHashKey?: string; Data: string }[];
}

/** A server with streams of Kinesis, and with one secret of Secrets Manager. */
export class KinesisServer {
  /** Each stream throttles the records of these partition keys. */
  readonly throttledKeys = new Set<string>();
  private readonly streams = new Map<string, FakeKinesis>();

  /** @param secret the login that Secrets Manager returns */
  static async start(secret: { username: string; password: string }): Promise<KinesisServer> {
    const http = createServer(async (request, response) => {
      const input = (await json(request)) as Partial<PutRecords>;
      response.setHeader('content-type', 'application/x-amz-json-1.1');
      const output =
        input.Records === undefined ? { SecretString: JSON.stringify(secret) } : await server.put(input as PutRecords);
      response.end(JSON.stringify(output));
    }).listen(0, '127.0.0.1');
    const server = new KinesisServer(http);
    await once(http, 'listening');
    return server;
  }

  private constructor(private readonly http: Server) {}

  get endpoint(): string {
    return `http://127.0.0.1:${(this.http.address() as AddressInfo).port}`;
  }

  /** A stream with one shard. */
  stream(name: string): FakeKinesis {
    const present = this.streams.get(name);
    if (present !== undefined) return present;
    const created = new FakeKinesis({
      clock: systemClock as unknown as VirtualClock,
      shardCount: 1,
      entryFate: ({ PartitionKey }) => (this.throttledKeys.has(PartitionKey!) ? 'throttled' : 'stored'),
    });
    this.streams.set(name, created);
    return created;
  }

  private put({ StreamName, Records }: PutRecords): Promise<object> {
    const records = Records.map((record) => ({ ...record, Data: Buffer.from(record.Data, 'base64') }));
    return this.stream(StreamName).putRecords({ StreamName, Records: records });
  }

  stop(): void {
    this.http.close();
    this.http.closeAllConnections();
  }
}
