import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { pipeline } from 'node:stream';
import { text } from 'node:stream/consumers';
import { createServer as createTlsServer } from 'node:tls';
import { deaggregate } from '../../../lib/core/consumer';
import { systemClock } from '../../../lib/core/kernel/clock';
import type { PutRecordsRequestEntry } from '../../../lib/core/producer';
import { FakeKinesis, seededRandom, type VirtualClock } from '../../../lib/testing';
import { SERVICE_SHARD_LIMITS } from '../../../lib/testing/shard-token-bucket';

/** The behaviour of the stream of an endpoint. */
export interface StreamBehaviour {
  readonly shards: number;
  /** The part of the limits of each shard that the peer can use. Other writers use the remaining part. */
  readonly left: number;
  /** The share of entries that fail with an internal failure, and that are throttled, even at a low load. */
  readonly failed: number;
  readonly throttled: number;
}

/** The outcome of a run: the records in the stream, and the requests. */
interface StreamReport {
  /** User records that a consumer reads, without duplicates. */
  readonly read: number;
  /** Duplicate user records. */
  readonly duplicates: number;
  /** User records that are in the stream after a later record of their key. */
  readonly outOfOrder: number;
  readonly requests: number;
  /** The bytes of the request bodies. */
  readonly bytes: number;
}

/** A stream that another process serves over TLS on the loopback interface. */
export interface Endpoint {
  readonly port: number;
  /** Starts a new stream without records. */
  begin(behaviour: StreamBehaviour): Promise<void>;
  report(): Promise<StreamReport>;
  stop(): void;
}

/** With this argument, the program that calls `startEndpoint` must call `serveEndpoint` instead. */
export const ENDPOINT = 'endpoint';

export const STREAM = 'Events';
const ROUND_TRIP_MS = 20;

/**
 * The number of digits of the sequence number at the beginning of a record. The records of a key have ascending
 * numbers.
 */
export const NUMBER_DIGITS = 10;

export async function startEndpoint(program: string): Promise<Endpoint> {
  const child: ChildProcess = fork(program, [ENDPOINT], { serialization: 'advanced' });
  const ask = async (message: object): Promise<unknown> => {
    const answered = once(child, 'message');
    child.send(message);
    return (await answered)[0];
  };
  const [port] = (await once(child, 'message')) as [number];
  return {
    port,
    begin: async (behaviour) => void (await ask(behaviour)),
    report: async () => (await ask({})) as StreamReport,
    stop: () => child.disconnect(),
  };
}

/** Runs in a separate process, so that its processor time does not count for the peer. */
export function serveEndpoint(): void {
  let stream = new Stream({ shards: 1, left: 1, failed: 0, throttled: 0 });
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const operation = String(request.headers['x-amz-target']).split('.').at(-1)!;
    const { status, answer } = await stream.answer(operation, body);
    response.writeHead(status, {
      'content-type': request.headers['content-type'] ?? 'application/x-amz-json-1.1',
      'content-length': Buffer.byteLength(answer),
      'x-amzn-requestid': '00000000-0000-0000-0000-000000000000',
    });
    response.end(answer);
  });
  server.keepAliveTimeout = 60_000;
  // The TLS server of Node.js 20 resets some connections with large request bodies ("Parse Error: Paused").
  const front = createTlsServer({ key: certificate('key'), cert: certificate('crt') }, (socket) => {
    const behind = connect((server.address() as AddressInfo).port, '127.0.0.1');
    pipeline(socket, behind, socket, () => {});
  });
  process.on('message', (message: Partial<StreamBehaviour>) => {
    if (message.shards !== undefined) stream = new Stream(message as StreamBehaviour);
    process.send!(stream.report());
  });
  process.on('disconnect', () => process.exit());
  server.listen(0, '127.0.0.1', () => front.listen(0, '127.0.0.1'));
  front.on('listening', () => process.send!((front.address() as AddressInfo).port));
}

/** Returns the key or the certificate that dynalite contains. Clients must accept the certificate without verification. */
const certificate = (name: string) => readFileSync(require.resolve(`dynalite/ssl/server-${name}.pem`));

/** The response to GetCallerIdentity, which the KPL calls. */
const IDENTITY =
  '<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult>' +
  '<Arn>arn:aws:iam::123456789012:user/bench</Arn><UserId>AIDA</UserId><Account>123456789012</Account>' +
  '</GetCallerIdentityResult></GetCallerIdentityResponse>';

class Stream {
  private readonly kinesis: FakeKinesis;
  private requests = 0;
  private bytes = 0;

  constructor({ shards, left, failed, throttled }: StreamBehaviour) {
    const random = seededRandom(1);
    this.kinesis = new FakeKinesis({
      // FakeKinesis expects a virtual clock. This bench uses the real clock.
      clock: systemClock as VirtualClock,
      streamName: STREAM,
      shardCount: shards,
      roundTripMs: () => ROUND_TRIP_MS * (0.5 + random()),
      shardLimits: {
        recordsPerSecond: SERVICE_SHARD_LIMITS.recordsPerSecond * left,
        bytesPerSecond: SERVICE_SHARD_LIMITS.bytesPerSecond * left,
      },
      entryFate: () => {
        const chance = random();
        return chance < failed ? 'failed' : chance < failed + throttled ? 'throttled' : 'stored';
      },
    });
  }

  async answer(operation: string, body: string): Promise<{ status: number; answer: string }> {
    if (body.startsWith('Action=')) return { status: 200, answer: IDENTITY };
    try {
      return { status: 200, answer: JSON.stringify(await this.call(operation, body)) };
    } catch (error) {
      const { name, message, $metadata } = error as Error & { $metadata?: { httpStatusCode?: number } };
      return { status: $metadata?.httpStatusCode ?? 400, answer: JSON.stringify({ __type: name, message }) };
    }
  }

  private call(operation: string, body: string): Promise<unknown> {
    const input = JSON.parse(body);
    if (operation === 'PutRecords' || operation === 'PutRecord') {
      this.requests += 1;
      this.bytes += Buffer.byteLength(body);
    }
    if (operation === 'PutRecords') return this.kinesis.putRecords({ ...input, Records: input.Records.map(decoded) });
    if (operation === 'PutRecord') return this.kinesis.putRecord(decoded(input));
    if (operation === 'ListShards') return this.kinesis.listShards(input);
    if (operation === 'DescribeStreamSummary') return this.kinesis.describeStreamSummary(input);
    if (operation === 'DescribeStream') return this.describeStream();
    throw Object.assign(new Error(operation), { name: 'UnknownOperationException' });
  }

  private async describeStream(): Promise<object> {
    const { Shards } = await this.kinesis.listShards({ StreamName: STREAM });
    return { StreamDescription: { StreamName: STREAM, StreamStatus: 'ACTIVE', Shards, HasMoreShards: false } };
  }

  /** Reads the stream as the KCL does: a user record of an aggregate counts only on the shard of its key. */
  report(): StreamReport {
    const seen = new Set<number>();
    const latest = new Map<string, number>();
    let duplicates = 0;
    let outOfOrder = 0;
    const ranges = new Map(this.kinesis.shards.map(({ shardId, range }) => [shardId, range]));
    for (const record of this.kinesis.records()) {
      for (const { partitionKey, data } of deaggregate(record, { range: ranges.get(record.shardId)! })) {
        const number = Number(Buffer.from(data.subarray(0, NUMBER_DIGITS)).toString());
        if (seen.has(number)) duplicates += 1;
        else if (number < (latest.get(partitionKey) ?? -1)) outOfOrder += 1;
        else latest.set(partitionKey, number);
        seen.add(number);
      }
    }
    return { read: seen.size, duplicates, outOfOrder, requests: this.requests, bytes: this.bytes };
  }
}

const decoded = <T extends { Data: unknown }>(entry: T): T & PutRecordsRequestEntry =>
  ({ ...entry, Data: Buffer.from(String(entry.Data), 'base64') }) as never;
