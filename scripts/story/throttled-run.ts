import { startKinesisEmulator } from '../../bin/local/emulators/kinesis-emulator';
import { KinesisGate } from '../../bin/local/limits/kinesis-gate';
import { startServiceProxy } from '../../bin/local/limits/service-proxy';
import { ShardMaps } from '../../bin/local/limits/shard-maps';
import { Traffic } from '../../bin/local/limits/traffic';
import { type LocalStack, startLocal } from '../../bin/local/run-local';
import type { RepositoryEvent } from '../../examples/repository-outbox/repositories';
import { deaggregate } from '../../lib/core/consumer';
import { KinesisLimits } from '../../lib/testing/kinesis-limits';
import { readStream } from '../../test/support/reference-app';
import type { Cache } from './history';

/** The part of AWS's limit that a shard accepts, so that a small sample reaches the limit. */
const SCALE = 0.02;

/** The number of records that a shard accepts in a second. */
export const RECORDS_PER_SECOND = 1_000 * SCALE;

/**
 * The longest time that the limits count for a request. Without this bound, a slow machine sends its requests so rarely
 * that no shard reaches its limit.
 */
const LONGEST_REQUEST_MS = 100;

/** How long a run waits for the consumer. */
const SETTLE_MS = 30_000;

/** A local run of the reference app. Each shard of its stream throttles writes above the limit. */
export interface ThrottledRun {
  readonly stack: LocalStack;
  readonly streamName: string;
  /** The number of records that the shards have stored. */
  stored(): number;
  /** The number of records that the shards have throttled. */
  throttled(): number;
  /** The events in the stream, in the order of each shard. */
  readEvents(): Promise<RepositoryEvent[]>;
  /** Waits until the consumer has handled every record, and reads its table. */
  readCache(): Promise<Cache>;
  stop(): Promise<void>;
}

export async function startThrottledRun(app: string): Promise<ThrottledRun> {
  const emulator = await startKinesisEmulator();
  let requests = 0;
  const began = performance.now();
  const now = () => Math.min(performance.now() - began, LONGEST_REQUEST_MS * requests);
  const limits = new KinesisLimits({ now, scale: SCALE });
  const traffic = new Traffic();
  const limited = new Set(['PutRecord', 'PutRecords']);
  const proxy = await startServiceProxy(emulator.endpoint, 'kinesis', limited, (call) => {
    const gate = new KinesisGate({ shards: new ShardMaps(call), limits, traffic });
    return (request, forward) => {
      requests += 1;
      return gate.pass(request, forward);
    };
  });
  const stack = await startLocal({ app, kinesisEndpoint: proxy.endpoint });
  const streamName = stack.streams[0]!.name;
  const tableName = stack.tables.find(({ path }) => path.endsWith('/Repositories'))!.name;
  return {
    stack,
    streamName,
    stored: () => traffic.total(`shards ${streamName}`).count,
    throttled: () => traffic.total(`shards ${streamName}`).throttled,
    readEvents: async () =>
      (await readStream(stack)).flatMap((record) =>
        [...deaggregate(record)].map(({ data }) => JSON.parse(Buffer.from(data).toString())),
      ),
    readCache: async () => {
      await stack.eventSources.settle(SETTLE_MS);
      const { Items = [] } = await stack.clients.dynamodb.scan({ TableName: tableName, ConsistentRead: true });
      return new Map(Items.map(({ repository, commits }) => [repository!.S!, commits!.L!.map(({ S }) => S!)]));
    },
    stop: async () => {
      await stack.stop();
      await proxy.stop();
      await emulator.stop();
    },
  };
}
