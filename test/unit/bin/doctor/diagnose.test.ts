import { diagnose } from '../../../../bin/doctor/diagnose';
import type { Diagnosis } from '../../../../bin/doctor/diagnosis';
import type {
  IndexObservation,
  Observations,
  StreamObservation,
  TableObservation,
  Throughput,
  Traffic,
  UnshardedKey,
} from '../../../../bin/doctor/observations';
import { NO_METRICS } from '../../../../bin/doctor/observations';
import type { ThrottleCause } from '../../../../lib/core/aws-client/throttle-causes';
import { uniformRanges } from '../../../../lib/core/stream-format/hash-key-ranges';
import { indexConfig } from '../../../support/index-config';

const shards = (count: number) => uniformRanges(count).map((range, n) => ({ ...range, shardId: `shard-${n}` }));

const FULL = { recordsPerSecond: 3_500, bytesPerSecond: 1 };
const LITTLE = { recordsPerSecond: 500, bytesPerSecond: 1 };

/** Returns `count` shards of equal width, but with the first `width` shards merged into one wide shard. */
const merged = (count: number, width: number) => {
  const all = shards(count);
  return [{ ...all[0]!, endingHashKey: all[width - 1]!.endingHashKey }, ...all.slice(width)];
};

const DESCRIPTION = { isProvisioned: true, isEncrypted: true, retentionHours: 24 };
const stream = (changes: Partial<StreamObservation> = {}): StreamObservation => ({
  path: 'Orders/Events',
  openShards: shards(4),
  description: DESCRIPTION,
  throttled: 0,
  peak: { recordsPerSecond: 2_000, bytesPerSecond: 1_000_000 },
  ...changes,
});
const calm: Traffic = { peakUnits: 3_000, throttled: 0, byCause: {} };
const throughput = (changes: Partial<Throughput> = {}): Throughput => ({
  writes: calm,
  reads: calm,
  ...changes,
});
const throttledBy = (
  byCause: Partial<Record<ThrottleCause, number>>,
  limits: Pick<Traffic, 'provisioned' | 'maximum' | 'peakUnits'> = {},
): Traffic => ({
  throttled: Object.values(byCause).reduce((sum, events) => sum + events, 0),
  byCause,
  ...limits,
});
const index = (changes: Partial<IndexObservation> = {}): IndexObservation => ({
  path: 'Orders/Table/byStatus',
  config: indexConfig({ shards: { default: { write: 4, read: 4 } } }),
  status: 'ACTIVE',
  throughput: throughput(),
  valuesAtMaximum: 0,
  ...changes,
});
const table = (changes: Partial<TableObservation> = {}): TableObservation => ({
  path: 'Orders/Table',
  hasRecovery: true,
  isSharded: true,
  ...changes,
});
const ID = { name: 'id', type: 'S', role: 'partition' } as const;
const ownKey = (changes: Partial<UnshardedKey> = {}): UnshardedKey => ({
  path: 'Orders/Table',
  tableName: 'orders',
  key: [ID],
  table: { id: 'Table', partitionKey: ID },
  owner: 'TableV2',
  throughput: throughput(),
  mustBeMeasured: true,
  itemKb: 1,
  ...changes,
});

const found = (observed: Partial<Observations>): Diagnosis[] =>
  diagnose(
    { streams: [], indexes: [], tables: [], unsharded: [], consumers: [], keepers: [], missing: [], ...observed },
    { showKeys: true, language: 'typescript' },
  );
const idsOf = (observed: Partial<Observations>) => found(observed).map(({ id, weight }) => `${weight} ${id}`);

describe('doctor on a stream', () => {
  test.each<[string, Partial<StreamObservation>, string[]]>([
    ['in a healthy state', {}, []],
    ['with a doubling that stopped halfway', { openShards: merged(6, 2) }, ['uneven missingSplits']],
    ['with uneven shards', { openShards: merged(6, 3) }, ['uneven unevenShards']],
    ['with throttled writes and a full load', { peak: FULL, throttled: 3 }, ['refused fullStream']],
    ['with a nearly full load', { peak: FULL }, ['limit fullStream']],
    ['with a single shard', { openShards: shards(1), shardLoads: loads(9), peak: LITTLE }, []],
    [
      'with a shard that receives half of the records and has no throttled write',
      { shardLoads: loads(100, 100, 100, 300) },
      ['uneven hotShard'],
    ],
    [
      'with throttled writes of a hot shard',
      { shardLoads: [...loads(1, 1, 1), { ...loads(9)[0]!, throttled: 1 }] },
      ['refused hotShard'],
    ],
    ['with too few records for a diagnosis', { shardLoads: loads(1, 1, 1, 9) }, []],
    ['with twice the shards that it needs', { openShards: shards(8) }, ['cost idleShards']],
    ['with throttled writes and a load for one shard', { peak: LITTLE, throttled: 3 }, ['refused hotShard']],
    ['in on-demand mode', { openShards: shards(8), description: { ...DESCRIPTION, isProvisioned: false } }, []],
    ['with a consumer that is one hour behind', { iteratorAgeHours: 1 }, []],
  ])('reports the findings of a stream %s', (_, changes, expected) => {
    expect(idsOf({ streams: [stream(changes)] })).toEqual(expected);
  });
});

function loads(...records: number[]) {
  return records.map((count, n) => ({ shardId: `shard-${n}`, records: count, throttled: 0 }));
}

describe('doctor on an index', () => {
  test.each<[string, Partial<IndexObservation>, string[]]>([
    ['in a healthy state', {}, []],
    ['that is being created', { status: 'CREATING' }, ['refused notActive']],
    ['with values at their maximum', { valuesAtMaximum: 2 }, ['limit valuesAtMaximum']],
    [
      'with unused shards',
      { throughput: throughput({ writes: { ...calm, peakUnits: 10 } }) },
      ['cost idleIndexShards'],
    ],
    [
      'with unused shards and throttled reads',
      {
        throughput: throughput({
          writes: { ...calm, peakUnits: 10 },
          reads: { ...calm, throttled: 5, byCause: { keyRange: 5 } },
        }),
      },
      ['refused hotReads'],
    ],
    ['with items that no query finds', { hiddenItems: 1 }, ['loss strays']],
    ['with items that lack its sort key', { unsortedItems: 1 }, ['loss noSortKey']],
  ])('reports the findings of an index %s', (_, changes, expected) => {
    expect(idsOf({ indexes: [index(changes)] })).toEqual(expected);
  });

  const hot = (events: number, peakUnits?: number) =>
    throughput({ writes: throttledBy({ keyRange: events }, peakUnits === undefined ? {} : { peakUnits }) });

  test.each<[Partial<IndexObservation>, string]>([
    [{ throughput: hot(9, 4_000) }, 'ShardCounts.uniform(8)'],
    [{ hiddenItems: 1 }, 'find the writer that leaves shardAttributes out'],
    [{ hiddenItems: 1, keeper: 'corrects' }, 'check that the IndexKeeper reads the stream of the table'],
    [{ hiddenItems: 1, keeper: 'counts' }, 'set correct: true of the IndexKeeper'],
    [{ throughput: hot(9, 9_000) }, 'ShardCounts.uniform(18)'],
    [
      { throughput: hot(300), entries: [{ value: 'busy', shard: 0, writes: 100, throttled: 300 }] },
      'ShardCounts.byValue({ "busy": 24 }, ...)',
    ],
  ])('advises twice as many shards, or more if the measured load needs more: %j', (changes, counts) => {
    expect(found({ indexes: [index(changes)] })[0]!.change).toContain(counts);
  });
});

/** Source: the DynamoDB developer guide, "DynamoDB throttling resolution guide". */
describe('doctor on throttled requests', () => {
  const PROVISIONED = { provisioned: 500 };
  const MAXIMUM = { maximum: 500 };

  test.each<['table' | 'index', 'writes' | 'reads', ThrottleCause, RegExp, string?]>([
    ['index', 'writes', 'keyRange', /increase the count to ShardCounts\.uniform\(8\)/, 'tooFewShards'],
    ['index', 'writes', 'provisioned', /set writeCapacity of addShardedIndex to .*\(\{ maxCapacity: 1000 \}\)/],
    ['index', 'writes', 'onDemandMaximum', /set maxWriteRequestUnits of addShardedIndex to 1000/],
    ['index', 'writes', 'accountLimit', /quota L-AB614373/],
    ['index', 'reads', 'keyRange', /smaller limit for pages, or cache.*each small page reads every shard/, 'hotReads'],
    ['index', 'reads', 'provisioned', /set readCapacity of addShardedIndex.*each page reads 4 shards/],
    ['index', 'reads', 'onDemandMaximum', /set maxReadRequestUnits of addShardedIndex.*each page reads 4 shards/],
    ['index', 'reads', 'accountLimit', /quota L-CF0CBE56.*each page reads 4 shards/],
    ['table', 'writes', 'keyRange', /the shards of an index do not help its table/, 'hotPartition'],
    [
      'table',
      'writes',
      'provisioned',
      /Billing\.provisioned\(\{ writeCapacity: .*\(\{ maxCapacity: 1000 \}\), \.\.\. \}\)/,
    ],
    ['table', 'writes', 'onDemandMaximum', /Billing\.onDemand\(\{ maxWriteRequestUnits: 1000 \}\)/],
    ['table', 'writes', 'accountLimit', /quota L-AB614373/],
    ['table', 'reads', 'keyRange', /read without consistentRead, or cache the responses/, 'hotReads'],
    ['table', 'reads', 'provisioned', /Billing\.provisioned\(\{ readCapacity:/],
    ['table', 'reads', 'onDemandMaximum', /Billing\.onDemand\(\{ maxReadRequestUnits: 1000 \}\)/],
    ['table', 'reads', 'accountLimit', /quota L-CF0CBE56/],
  ])(
    '%s, throttled %s, cause %s – advises the change that fixes this cause',
    (kind, direction, cause, advice, id: string = cause) => {
      const limits = { provisioned: PROVISIONED, onDemandMaximum: MAXIMUM, keyRange: {}, accountLimit: {} }[cause];
      const load = { throughput: throughput({ [direction]: throttledBy({ [cause]: 7 }, limits) }) };
      const [diagnosis, ...more] = found(kind === 'index' ? { indexes: [index(load)] } : { unsharded: [ownKey(load)] });
      expect(more).toEqual([]);
      expect(diagnosis).toMatchObject({
        id: id === 'provisioned' ? 'provisionedCapacity' : id,
        weight: 'refused',
        throttling: { operation: direction.slice(0, -1), cause, events: 7 },
      });
      expect(diagnosis!.what).toMatch(new RegExp(`^7 ${direction} (were throttled|throttled by a hot partition)`));
      expect(diagnosis!.change).toMatch(advice);
      const holdsUp = kind === 'index' && direction === 'writes';
      expect(/throttles (these writes|the writes of the table)/.test(diagnosis!.what)).toBe(holdsUp);
    },
  );

  test('several causes – reports the cause with the most throttled requests first', () => {
    const writes = throttledBy({ provisioned: 5, keyRange: 50 }, PROVISIONED);
    const reads = throttledBy({ onDemandMaximum: 20 }, MAXIMUM);
    expect(idsOf({ indexes: [index({ throughput: throughput({ writes, reads }) })] })).toEqual([
      'refused tooFewShards',
      'refused onDemandMaximum',
      'refused provisionedCapacity',
    ]);
  });

  test('throttled writes without a metric of the cause – reports an unknown cause, and names the field of the error that contains the cause', () => {
    const writes = { throttled: 40, byCause: {} };
    const [unknown] = found({ indexes: [index({ throughput: throughput({ writes }) })] });
    expect(unknown).toMatchObject({ id: 'unknownCause', throttling: { cause: 'unknown', events: 40 } });
    expect(unknown!.what).toContain('WriteThrottleEvents of the index counts them, and no metric names the cause');
    expect(unknown!.change).toContain('ThrottlingReasons');
  });

  test.each([
    [100, ['refused tooFewShards']],
    [99, ['refused tooFewShards']],
    [80, ['refused tooFewShards', 'refused unknownCause']],
  ])(
    '%d of 100 throttled writes have a known cause – reports the cause of the other writes as unknown, unless the other writes are few',
    (keyRange, expected) => {
      const writes = { throttled: 100, byCause: { keyRange } };
      expect(idsOf({ indexes: [index({ throughput: throughput({ writes }) })] })).toEqual(expected);
    },
  );

  test('the billing mode has changed, so the limit that throttled no longer exists – advises no new limit', () => {
    for (const cause of ['provisioned', 'onDemandMaximum'] as const) {
      const [gone] = found({ indexes: [index({ throughput: throughput({ writes: throttledBy({ [cause]: 4 }) }) })] });
      expect(gone!.id).toBe(cause === 'provisioned' ? 'provisionedCapacity' : cause);
      expect(gone!.what).toContain('DynamoDB reports no such limit now');
      expect(gone!.change).toContain('run doctor with smaller --hours');
    }
  });

  test('a load below the maximum of auto scaling – advises a higher minimum capacity', () => {
    const advised = (provisioned: number, scalesTo: number, peakUnits: number) => {
      const writes = { ...throttledBy({ provisioned: 4 }, { provisioned, peakUnits }), scalesTo };
      const [{ what, change }] = found({ indexes: [index({ throughput: throughput({ writes }) })] }) as [Diagnosis];
      return [/index(.*?) units/.exec(what)![1], /Capacity\.autoscaled\((.*?)\)/.exec(change)![1]];
    };
    expect(advised(10, 1_000, 8)).toEqual([', now 10 and at most 1,000', '{ minCapacity: 20, maxCapacity: 1000 }']);
    expect(advised(10, 1_000, 400)).toEqual([', now 10 and at most 1,000', '{ minCapacity: 800, maxCapacity: 1000 }']);
    expect(advised(10, 1_000, 600)).toEqual([', now 10 and at most 1,000', '{ maxCapacity: 1200 }']);
    expect(advised(1_000, 1_000, 900)).toEqual([', 1,000', '{ maxCapacity: 2000 }']);
  });

  test('the advised capacity exceeds the quota of the account – names the quota in the advice', () => {
    const change = (provisioned: number) => {
      const writes = throttledBy({ provisioned: 4 }, { provisioned });
      return found({ indexes: [index({ throughput: throughput({ writes }) })] })[0]!.change;
    };
    expect(change(20_000)).not.toContain('quota');
    expect(change(20_001)).toContain('More than 40,000 units a second need a higher quota L-AB614373');
  });

  test('throttled writes of an index – does not report unused shards', () => {
    const writes = throttledBy({ provisioned: 4 }, { provisioned: 10, peakUnits: 10 });
    expect(idsOf({ indexes: [index({ throughput: throughput({ writes }) })] })).toEqual([
      'refused provisionedCapacity',
    ]);
  });
});

describe('doctor without measurements', () => {
  const silent: Throughput = {
    missing: NO_METRICS,
    writes: { throttled: 0, byCause: {} },
    reads: { throttled: 0, byCause: {} },
  };
  const DENIED = { why: 'access denied: no', change: 'allow it' };
  const { peak: _, ...idle } = stream({ missing: NO_METRICS });

  test.each<[string, Partial<Observations>, string[]]>([
    ['a stream', { streams: [{ ...idle, openShards: shards(8) }] }, ['unknown notMeasured']],
    ['an index', { indexes: [index({ throughput: silent })] }, ['unknown notMeasured']],
    ['a table with sharded indexes', { unsharded: [ownKey({ throughput: silent })] }, ['unknown notMeasured']],
    [
      'a table without sharded indexes, such as the table of parked keys',
      { unsharded: [ownKey({ throughput: silent, mustBeMeasured: false })] },
      [],
    ],
    [
      'a table whose metrics the account does not allow to read',
      { unsharded: [ownKey({ throughput: { ...silent, missing: DENIED }, mustBeMeasured: false })] },
      ['unknown notMeasured'],
    ],
    ['a stream whose shards are not known', { streams: [{ ...idle, openShards: [] }] }, ['unknown notMeasured']],
  ])('%s – reports the metric as not measured, and does not advise fewer shards', (_name, observed, expected) => {
    expect(idsOf(observed)).toEqual(expected);
  });
});

test('doctor reports a table without point-in-time recovery, and parked keys', () => {
  const consumer = { path: 'Orders/Handler', tableName: 'Parked', consumer: 'orders', parkedKeys: 2, deadKeys: 0 };
  expect(idsOf({ tables: [table({ hasRecovery: false })], consumers: [consumer] })).toEqual([
    'refused parkedKeys',
    'safety noRecovery',
  ]);
});

test('doctor reports an index keeper with a sweep that is due, with items that are set aside, or with correct: false', () => {
  const keeper = { path: 'Jobs/Keeper', corrects: true, contested: 0, rejected: 0 };
  expect(idsOf({ keepers: [keeper] })).toEqual([]);
  expect(idsOf({ keepers: [{ ...keeper, sweepDue: 'firstRecords' }] })).toEqual(['loss sweepDue']);
  expect(idsOf({ keepers: [{ ...keeper, contested: 1, rejected: 2 }] })).toEqual(['loss itemsSetAside']);
  expect(idsOf({ keepers: [{ ...keeper, corrects: false }] })).toEqual(['loss keeperTrial']);
});

test('doctor reports findings about data loss first, and findings about cost last', () => {
  const observed = {
    streams: [stream({ openShards: shards(8), description: { ...DESCRIPTION, isEncrypted: false } })],
    indexes: [index({ hiddenItems: 1 })],
  };
  expect(idsOf(observed)).toEqual(['loss strays', 'safety notEncrypted', 'cost idleShards']);
});
