import { systemClock } from '../../../lib/core/kernel/clock';
import { FakeKinesis } from '../../../lib/testing/fake-kinesis';
import type { VirtualClock } from '../../../lib/testing/virtual-clock';
import { type LoopbackServer, sendJson, startServer } from '../../support/loopback-server';

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
    const server = new KinesisServer();
    server.http = await startServer(async (response, body) => {
      const input: Partial<PutRecords> = JSON.parse(body);
      const isPut = input.Records !== undefined;
      sendJson(response, isPut ? await server.put(input as PutRecords) : { SecretString: JSON.stringify(secret) });
    });
    return server;
  }

  private http!: LoopbackServer;

  get endpoint(): string {
    return this.http.endpoint;
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
    this.http.stop();
  }
}
