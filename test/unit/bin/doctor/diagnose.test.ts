import { type Diagnosis, diagnose } from '../../../../bin/doctor/diagnose';
import type { IndexObservation, Observations, StreamObservation } from '../../../../bin/doctor/observations';
import { uniformRanges } from '../../../../lib/core/foundation/hash-key-ranges';
import { indexConfig } from '../../../support/index-config';

const shards = (count: number) => uniformRanges(count).map((range, n) => ({ ...range, shardId: `shard-${n}` }));

const FULL = { recordsPerSecond: 3_500, bytesPerSecond: 1 };
const LITTLE = { recordsPerSecond: 500, bytesPerSecond: 1 };

/** Shards of which the first is as wide as several of the others. */
const merged = (count: number, width: number) => {
  const all = shards(count);
  return [{ ...all[0]!, endingHashKey: all[width - 1]!.endingHashKey }, ...all.slice(width)];
};

const stream = (changes: Partial<StreamObservation> = {}): StreamObservation => ({
  path: 'Orders/Events',
  openShards: shards(4),
  isProvisioned: true,
  isEncrypted: true,
  retentionHours: 24,
  throttled: 0,
  peak: { recordsPerSecond: 2_000, bytesPerSecond: 1_000_000 },
  ...changes,
});
const index = (changes: Partial<IndexObservation> = {}): IndexObservation => ({
  path: 'Orders/Table/byStatus',
  config: indexConfig({ shards: { default: { write: 4, read: 4 } } }),
  status: 'ACTIVE',
  throttled: 0,
  valuesAtMaximum: 0,
  peakWriteUnits: 3_000,
  ...changes,
});

const found = (observed: Partial<Observations>): Diagnosis[] =>
  diagnose({ streams: [], indexes: [], tables: [], consumers: [], ...observed });
const idsOf = (observed: Partial<Observations>) => found(observed).map(({ id, weight }) => `${weight} ${id}`);

describe('a stream', () => {
  test.each<[string, Partial<StreamObservation>, string[]]>([
    ['that is as it should be', {}, []],
    ['that a doubling has left half way', { openShards: merged(6, 2) }, ['uneven missingSplits']],
    ['that is uneven in any other way', { openShards: merged(6, 3) }, ['uneven unevenShards']],
    ['that refuses writes and is full', { peak: FULL, throttled: 3 }, ['refused fullStream']],
    ['that is nearly full', { peak: FULL }, ['limit fullStream']],
    ['whose single shard gets everything', { openShards: shards(1), shardLoads: loads(9), peak: LITTLE }, []],
    [
      'one of whose shards gets half of it, and refuses nothing',
      { shardLoads: loads(100, 100, 100, 300) },
      ['uneven hotShard'],
    ],
    [
      'whose hot shard refuses writes',
      { shardLoads: [...loads(1, 1, 1), { ...loads(9)[0]!, throttled: 1 }] },
      ['refused hotShard'],
    ],
    ['that has had too few records to tell', { shardLoads: loads(1, 1, 1, 9) }, []],
    ['that has twice the shards that it needs', { openShards: shards(8) }, ['cost idleShards']],
    ['on demand, whose shards are not ours', { openShards: shards(8), isProvisioned: false }, []],
    ['whose consumer is at the tip', { iteratorAgeHours: 1 }, []],
  ])('%s', (_, changes, expected) => {
    expect(idsOf({ streams: [stream(changes)] })).toEqual(expected);
  });
});

function loads(...records: number[]) {
  return records.map((count, n) => ({ shardId: `shard-${n}`, records: count, throttled: 0 }));
}

describe('an index', () => {
  test.each<[string, Partial<IndexObservation>, string[]]>([
    ['that is as it should be', {}, []],
    ['that is being created', { status: 'CREATING' }, ['refused notActive']],
    ['with values at their maximum', { valuesAtMaximum: 2 }, ['limit valuesAtMaximum']],
    ['with shards that nobody needs', { peakWriteUnits: 10 }, ['cost idleIndexShards']],
    ['of which nothing is measured', { peakWriteUnits: undefined } as object, []],
    ['with items that no query finds', { hiddenItems: 1 }, ['loss strays']],
  ])('%s', (_, changes, expected) => {
    expect(idsOf({ indexes: [index(changes)] })).toEqual(expected);
  });

  test.each<[Partial<IndexObservation>, string]>([
    [{ throttled: 9, peakWriteUnits: 4_000 }, 'ShardCounts.uniform(8)'],
    [{ throttled: 9, peakWriteUnits: 9_000 }, 'ShardCounts.uniform(18)'],
    [
      { throttled: 300, entries: [{ value: 'busy', shard: 0, writes: 100, throttled: 300 }] },
      'ShardCounts.byValue({ "busy": 24 }, ...)',
    ],
  ])('that throttles gets twice its shards, or as many as are asked of it: %j', (changes, counts) => {
    expect(found({ indexes: [index(changes)] })[0]!.change).toContain(counts);
  });
});

test('a table without recovery, and keys that wait, are found', () => {
  const consumer = { path: 'Orders/Handler', tableName: 'Parked', consumer: 'orders', parkedKeys: 2, deadKeys: 0 };
  expect(idsOf({ tables: [{ path: 'Orders/Table', hasRecovery: false }], consumers: [consumer] })).toEqual([
    'refused parkedKeys',
    'safety noRecovery',
  ]);
});

test('what loses data comes first, and what only costs comes last', () => {
  const observed = {
    streams: [stream({ openShards: shards(8), isEncrypted: false })],
    indexes: [index({ hiddenItems: 1 })],
  };
  expect(idsOf(observed)).toEqual(['loss strays', 'safety notEncrypted', 'cost idleShards']);
});
