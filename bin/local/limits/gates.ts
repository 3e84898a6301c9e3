import { DynamoDbLimits } from '../../../lib/testing/dynamodb-limits';
import { KinesisLimits } from '../../../lib/testing/kinesis-limits';
import { seededRandom } from '../../../lib/testing/seeded-random';
import { DynamoDbGate, GATED_BY_DYNAMODB, STATEMENTS } from './dynamodb-gate';
import { FAULTY_SERVICES, type FaultRates, Faults, type FaultyService, withFaults } from './faults';
import { GATED_BY_KINESIS, KinesisGate } from './kinesis-gate';
import { RecentReads } from './recent-reads';
import { startServiceProxy } from './service-proxy';
import { ShardMaps } from './shard-maps';
import { TableShapes } from './table-shapes';
import { Traffic } from './traffic';

/** What stands between clients and the emulators. */
export interface GateOptions {
  /** The limits of AWS are multiplied by this and enforced. Above 0. @default nothing is limited */
  readonly limits?: number;
  /** What goes wrong, and how often. @default nothing does */
  readonly faults?: Readonly<Record<FaultyService, FaultRates>>;
  /** The seed of the random numbers that decide which calls have faults. @default 1 */
  readonly seed?: number;
}

export interface Gates {
  readonly endpoints: { readonly kinesis: string; readonly dynamodb: string };
  readonly traffic: Traffic;
  readonly reads: RecentReads;
  readonly shards: ShardMaps;
  /** Absent: nothing is limited. */
  readonly limits?: { readonly kinesis: KinesisLimits; readonly dynamodb: DynamoDbLimits };
  /** What was refused and which faults were injected, in lines to print. */
  report(): string[];
  stop(): Promise<void>;
}

/** Puts a gate in front of each emulator. */
export async function startGates(
  emulators: { kinesis: string; dynamodb: string },
  { limits: scale, faults: rates, seed = 1 }: GateOptions,
  notice: (line: string) => void = () => {},
): Promise<Gates> {
  const now = () => performance.now();
  const traffic = new Traffic();
  const reads = new RecentReads();
  const limits =
    scale === undefined
      ? undefined
      : { kinesis: new KinesisLimits({ now, scale }), dynamodb: new DynamoDbLimits({ now, scale }) };
  const faultsOf = (service: FaultyService) => new Faults(rates?.[service] ?? {}, seededRandom(seed));
  const faults = { kinesis: faultsOf('kinesis'), dynamodb: faultsOf('dynamodb') };
  let shards!: ShardMaps;
  const [kinesis, dynamodb] = await Promise.all([
    startServiceProxy(
      { endpoint: emulators.kinesis, target: 'Kinesis_20131202', json: '1.1', gated: GATED_BY_KINESIS },
      (proxy) => {
        shards = new ShardMaps(proxy);
        const gate = new KinesisGate({ shards, limits: limits?.kinesis, faults: faults.kinesis, traffic });
        return withFaults(gate.pass, faults.kinesis);
      },
    ),
    startServiceProxy(
      { endpoint: emulators.dynamodb, target: 'DynamoDB_20120810', json: '1.0', gated: GATED_BY_DYNAMODB },
      (proxy) => {
        const tables = new TableShapes(proxy);
        const gate = new DynamoDbGate({
          proxy,
          tables,
          limits: limits?.dynamodb,
          faults: faults.dynamodb,
          traffic,
          reads,
          notice,
        });
        return withFaults(gate.pass, faults.dynamodb);
      },
    ),
  ]);
  return {
    endpoints: { kinesis: kinesis.endpoint, dynamodb: dynamodb.endpoint },
    traffic,
    reads,
    shards,
    limits,
    report: () => [
      ...(scale === undefined ? [] : throttledLines(traffic)),
      ...FAULTY_SERVICES.flatMap((service) =>
        Object.entries(rates?.[service] ?? {}).map(
          ([kind]) => `injected: ${faults[service].injected[kind as keyof FaultRates] ?? 0} of ${service}:${kind}`,
        ),
      ),
    ],
    stop: async () => {
      await Promise.all([kinesis.stop(), dynamodb.stop()]);
    },
  };
}

function throttledLines(traffic: Traffic): string[] {
  const statements = [...traffic.of(STATEMENTS)].map(([operation, { count }]) => `${count} ${operation}`);
  return [
    `throttled: ${traffic.throttled('shards ')} records of streams, ${traffic.throttled('writes ')} writes of tables and indexes`,
    ...(statements.length === 0 ? [] : [`not limited: ${statements.join(', ')}`]),
  ];
}
