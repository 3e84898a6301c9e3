import fc from 'fast-check';
import { DynamoDbLimits, KinesisLimits, VirtualClock } from '../../../lib/testing';
import { randomRuns } from '../../support/random-runs';

const SHARD = { streamName: 'Events', shardId: 'shardId-000000000000' };
const TABLE = { tableArn: 'arn:aws:dynamodb:us-east-1:000000000000:table/Orders' };

describe.each([1, 0.1, 3])('the simulated limits at %d times the limits of AWS', (scale) => {
  let nowMs = 0;
  const now = () => nowMs;
  beforeEach(() => {
    nowMs = 0;
  });

  test('a shard accepts the records of one second in a burst, and after that the records for the elapsed time', () => {
    const limits = new KinesisLimits({ now, scale });
    const taken = (records: number) =>
      Array.from({ length: records }, () => limits.takeRecord(SHARD, 100)).filter(Boolean).length;
    expect(taken(5_000)).toBe(1_000 * scale);
    nowMs += 500;
    expect(taken(5_000)).toBe(500 * scale);
    nowMs += 60_000;
    expect(taken(5_000)).toBe(1_000 * scale);
  });

  test('a shard accepts one record that is larger than the byte limit of one second, and throttles after that', () => {
    const limits = new KinesisLimits({ now, scale });
    expect(limits.takeRecord(SHARD, 2_000_000 * scale)).toBe(true);
    expect(limits.takeRecord(SHARD, 1)).toBe(false);
    nowMs += 1_001;
    expect(limits.takeRecord(SHARD, 1)).toBe(true);
  });

  test('each shard of each stream has its own limits', () => {
    const limits = new KinesisLimits({ now, scale });
    while (limits.takeRecord(SHARD, 100));
    expect(limits.takeRecord({ ...SHARD, shardId: 'shardId-000000000001' }, 100)).toBe(true);
    expect(limits.takeRecord({ ...SHARD, streamName: 'Other' }, 100)).toBe(true);
  });

  test('a shard never accepts more records than the limit for the elapsed time plus one second', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ afterMs: fc.nat(400), bytes: fc.integer({ min: 1, max: 60_000 }) }), { maxLength: 300 }),
        (requests) => {
          nowMs = 0;
          const limits = new KinesisLimits({ now, scale });
          let records = 0;
          let bytes = 0;
          for (const request of requests) {
            nowMs += request.afterMs;
            if (!limits.takeRecord(SHARD, request.bytes)) continue;
            records += 1;
            bytes += request.bytes;
            const seconds = 1 + nowMs / 1_000;
            expect(records).toBeLessThanOrEqual(1_000 * scale * seconds + 1e-6);
            // The last record can exceed the remaining bytes.
            expect(bytes - request.bytes).toBeLessThanOrEqual(1_000_000 * scale * seconds + 1e-6);
          }
        },
      ),
      { numRuns: randomRuns(100) },
    );
  });

  test('a hot index throttles a write to its table, and this write consumes no capacity of the table', () => {
    const limits = new DynamoDbLimits({ now, scale });
    const write = (order: number, status: string) =>
      limits.takeWrite([
        { ...TABLE, key: `order-${order}`, units: 1 },
        { ...TABLE, indexName: 'byStatus', key: status, units: 1 },
      ]);
    const reasons = Array.from({ length: 1_200 * scale }, (_, order) => write(order, 'open'));
    expect(reasons.filter((reason) => reason === undefined)).toHaveLength(1_000 * scale);
    expect(reasons.at(-1)).toEqual({
      reason: 'IndexWriteKeyRangeThroughputExceeded',
      resource: `${TABLE.tableArn}/index/byStatus`,
    });
    expect(write(0, 'shipped')).toBeUndefined();
    nowMs += 1_000;
    expect(write(0, 'open')).toBeUndefined();
  });

  test('a partition key is throttled after its reads have consumed more units than the limit', () => {
    const limits = new DynamoDbLimits({ now, scale });
    const key = { ...TABLE, key: 'order-1' };
    expect(limits.refuseRead(key)).toBeUndefined();
    limits.noteRead({ ...key, units: 6_000 * scale });
    expect(limits.refuseRead(key)).toEqual({ reason: 'TableReadKeyRangeThroughputExceeded', resource: TABLE.tableArn });
    expect(limits.refuseRead({ ...TABLE, key: 'order-2' })).toBeUndefined();
    nowMs += 1_001;
    expect(limits.refuseRead(key)).toBeUndefined();
  });
});

test('all readers of a shard together have five reads and two megabytes per second', () => {
  const clock = new VirtualClock();
  let nowMs = clock.now();
  const limits = new KinesisLimits({ now: () => nowMs });
  expect(Array.from({ length: 6 }, () => limits.takeRead(SHARD))).toEqual([true, true, true, true, true, false]);
  nowMs += 1_000;
  expect(limits.takeRead(SHARD)).toBe(true);
  // After a response of 10 MB, the calls in the next 5 seconds fail. Source: the Kinesis API reference, GetRecords.
  limits.noteRead(SHARD, 10_000_000);
  nowMs += 3_999;
  expect(limits.takeRead(SHARD)).toBe(false);
  nowMs += 2;
  expect(limits.takeRead(SHARD)).toBe(true);
});

test('control-plane requests have limits by account, stream or shard; other requests have no limits', () => {
  const limits = new KinesisLimits({ now: () => 0 });
  const taken = (operation: string, resource = {}) =>
    Array.from({ length: 2_000 }, () => limits.takeCall(operation, resource)).filter(Boolean).length;
  expect(taken('CreateStream', { streamName: 'a' })).toBe(5);
  expect(taken('CreateStream', { streamName: 'b' })).toBe(0);
  expect(taken('ListShards', { streamName: 'a' })).toBe(1_000);
  expect(taken('ListShards', { streamName: 'b' })).toBe(1_000);
  expect(taken('GetShardIterator', SHARD)).toBe(5);
  expect(taken('SubscribeToShard', SHARD)).toBe(2_000);
});

test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])(
  'KinesisLimits and DynamoDbLimits reject a scale of %d',
  (scale) => {
    const error = expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'scale' });
    expect(() => new KinesisLimits({ now: () => 0, scale })).toThrow(error);
    expect(() => new DynamoDbLimits({ now: () => 0, scale })).toThrow(error);
  },
);
