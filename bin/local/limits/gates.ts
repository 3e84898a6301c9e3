import { DynamoDbLimits } from '../../../lib/testing/dynamodb-limits';
import { KinesisLimits } from '../../../lib/testing/kinesis-limits';
import { DynamoDbGate, GATED_BY_DYNAMODB } from './dynamodb-gate';
import { GATED_BY_KINESIS, KinesisGate } from './kinesis-gate';
import { startServiceProxy } from './service-proxy';
import { ShardMaps } from './shard-maps';
import { TableShapes } from './table-shapes';
import { Traffic } from './traffic';

/** The options of the gates between clients and the emulators. */
export interface GateOptions {
  /** The gates enforce the limits of AWS, multiplied by this number. Above 0. @default no limits */
  readonly limits?: number;
}

export interface Gates {
  readonly endpoints: { readonly kinesis: string; readonly dynamodb: string };
  readonly traffic: Traffic;
  readonly shards: ShardMaps;
  /** Absent if nothing is limited. */
  readonly limits?: { readonly kinesis: KinesisLimits; readonly dynamodb: DynamoDbLimits };
  /** The number of throttled records and writes, as lines to print. */
  report(): string[];
  stop(): Promise<void>;
}

/** Starts a gate in front of each emulator. */
export async function startGates(
  emulators: { kinesis: string; dynamodb: string },
  { limits: scale }: GateOptions,
): Promise<Gates> {
  const now = () => performance.now();
  const traffic = new Traffic();
  const limits =
    scale === undefined
      ? undefined
      : { kinesis: new KinesisLimits({ now, scale }), dynamodb: new DynamoDbLimits({ now, scale }) };
  let shards!: ShardMaps;
  const [kinesis, dynamodb] = await Promise.all([
    startServiceProxy(emulators.kinesis, 'kinesis', GATED_BY_KINESIS, (call) => {
      shards = new ShardMaps(call);
      return new KinesisGate({ shards, limits: limits?.kinesis, traffic }).pass;
    }),
    startServiceProxy(emulators.dynamodb, 'dynamodb', GATED_BY_DYNAMODB, (call) => {
      const tables = new TableShapes(call);
      return new DynamoDbGate({ call, tables, limits: limits?.dynamodb, traffic }).pass;
    }),
  ]);
  return {
    endpoints: { kinesis: kinesis.endpoint, dynamodb: dynamodb.endpoint },
    traffic,
    shards,
    limits,
    report: () =>
      scale === undefined
        ? []
        : [
            `throttled: ${traffic.throttled('shards ')} records of streams, ${traffic.throttled('writes ')} writes of tables and indexes`,
          ],
    stop: async () => {
      await Promise.all([kinesis.stop(), dynamodb.stop()]);
    },
  };
}
