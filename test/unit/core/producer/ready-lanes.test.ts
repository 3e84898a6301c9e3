import { HASH_KEY_SPACE } from '../../../../lib/core';
import { Lane } from '../../../../lib/core/producer/lane';
import type { OutgoingRecord } from '../../../../lib/core/producer/outgoing-record';
import { Placement } from '../../../../lib/core/producer/placement';
import { ReadyLanes } from '../../../../lib/core/producer/ready-lanes';
import { ShardMap } from '../../../../lib/core/producer/shard-map';
import { UnitFormer } from '../../../../lib/core/producer/unit-former';
import { SilentRecord } from './silent-record';

const MIDDLE = HASH_KEY_SPACE / 2n;

/** The shards between these bounds, named one after the other. */
function mapOf(shards: readonly string[], bounds: readonly bigint[]): ShardMap {
  return new ShardMap(
    shards.map((ShardId, index) => ({
      ShardId,
      HashKeyRange: { StartingHashKey: String(bounds[index]), EndingHashKey: String(bounds[index + 1]! - 1n) },
    })),
  );
}

const TWO_SHARDS = mapOf(['low', 'high'], [0n, MIDDLE, HASH_KEY_SPACE]);

const placement = new Placement({ hashBuckets: undefined });

function readyLanes(aggregation: 'none' | 'per-key' = 'none'): ReadyLanes {
  return new ReadyLanes(
    new UnitFormer({ aggregation, maxAggregateBytes: 51_200, producerId: undefined }, placement),
    placement,
  );
}

/** A lane of one record that goes to the lower or the upper half of the hash key space. */
function laneOf(partitionKey: string, half: 'low' | 'high', bytes = 1): Lane {
  const lane = new Lane(partitionKey);
  const explicitHashKey = half === 'low' ? 0n : MIDDLE;
  const record = { partitionKey, data: Buffer.alloc(bytes), explicitHashKey };
  lane.add(new SilentRecord(record));
  return lane;
}

const keysOf = (batch: OutgoingRecord[]) => batch.map(({ lanes: [lane] }) => lane!.partitionKey);

describe('ReadyLanes', () => {
  test('gives the lanes their turn in the order they became ready, while nobody knows the shards', () => {
    const ready = readyLanes();
    const lanes = [laneOf('a', 'low'), laneOf('b', 'high'), laneOf('c', 'low')];
    for (const lane of lanes) ready.push(lane);
    const batch = ready.takeBatch(2, 0);
    expect(keysOf(batch)).toEqual(['a', 'b']);
    expect(lanes.map(({ state }) => state)).toEqual(['in flight', 'in flight', 'ready']);
    expect(batch[0]!.shard.shardId).toBeUndefined();
  });

  test('lets shards take turns', () => {
    const ready = readyLanes();
    ready.remap(TWO_SHARDS, 0);
    for (const key of ['a', 'b', 'c']) ready.push(laneOf(key, 'low'));
    ready.push(laneOf('d', 'high'));
    expect(keysOf(ready.takeBatch(500, 0))).toEqual(['a', 'd', 'b', 'c']);
  });

  test('sends a lane once, though it went on to its next record and became ready again while it queued', () => {
    const ready = readyLanes();
    const lane = laneOf('a', 'low');
    ready.push(lane);
    lane.settle();
    lane.goOn();
    ready.push(lane);
    expect(keysOf(ready.takeBatch(500, 0))).toEqual(['a']);
    expect(ready.hasTurns).toBe(false);
  });

  test('queues a lane anew whose turn came while it was not ready', () => {
    const ready = readyLanes();
    const lane = laneOf('a', 'low');
    ready.push(lane);
    lane.settle();
    lane.goOn();
    expect(ready.takeBatch(500, 0)).toEqual([]);
    ready.push(lane);
    expect(keysOf(ready.takeBatch(500, 0))).toEqual(['a']);
  });

  test('passes over the entry of a lane whose first record expired where the next one does not go', () => {
    const ready = readyLanes();
    ready.remap(TWO_SHARDS, 0);
    const lane = laneOf('a', 'low');
    lane.add(new SilentRecord({ ...lane.head.record, explicitHashKey: MIDDLE }));
    ready.push(lane);
    lane.settle();
    lane.shift();
    lane.goOn();
    ready.push(lane);
    expect(ready.takeBatch(500, 0)).toMatchObject([{ lanes: [lane], shard: { shardId: 'high' } }]);
    expect(ready.hasTurns).toBe(false);
  });

  test('passes over a lane that ended while it was ready', () => {
    const ready = readyLanes();
    const lanes = [laneOf('a', 'low'), laneOf('b', 'low')];
    for (const lane of lanes) ready.push(lane);
    lanes[0]!.end();
    expect(keysOf(ready.takeBatch(500, 0))).toEqual(['b']);
    expect(ready.hasTurns).toBe(false);
  });

  test('sorts no lane anew that ended while it was ready', () => {
    const ready = readyLanes();
    const lanes = [laneOf('a', 'low'), laneOf('b', 'low')];
    for (const lane of lanes) ready.push(lane);
    lanes[0]!.end();
    lanes[0]!.shift();
    ready.remap(TWO_SHARDS, 0);
    expect(keysOf(ready.takeBatch(500, 0))).toEqual(['b']);
  });

  test('parks a shard that has had its share, and no other', () => {
    const ready = readyLanes();
    ready.remap(TWO_SHARDS, 0);
    for (const key of ['a', 'b', 'c']) ready.push(laneOf(key, 'low', 600_000));
    ready.push(laneOf('d', 'high', 600_000));
    expect(keysOf(ready.takeBatch(500, 0))).toEqual(['a', 'd']);
    expect(ready).toMatchObject({ hasTurns: false, hasParked: true });
    ready.unpark();
    expect(keysOf(ready.takeBatch(500, 1_000))).toEqual(['b']);
  });

  test('finds room for a unit that is sent again, however much was put behind it meanwhile', () => {
    const ready = readyLanes('per-key');
    ready.remap(TWO_SHARDS, 0);
    const again = laneOf('a', 'low', 5_000);
    ready.push(laneOf('b', 'low', 980_000));
    ready.push(again);
    expect(keysOf(ready.takeBatch(500, 0))).toEqual(['b', 'a']);
    again.add(new SilentRecord({ partitionKey: 'a', data: Buffer.alloc(20_000), explicitHashKey: 0n }));
    again.backOff(() => {});
    ready.push(again);
    expect(keysOf(ready.takeBatch(500, 0))).toEqual(['a']);
  });

  test('keeps the turns of the lanes, though one goes on to its next record before its turn, and again after it', () => {
    const ready = readyLanes();
    const [lane, other] = [laneOf('a', 'low'), laneOf('b', 'low')];
    const goOn = () => {
      lane.settle();
      lane.goOn();
      ready.push(lane);
    };
    ready.push(lane);
    goOn();
    ready.push(other);
    expect(keysOf(ready.takeBatch(1, 0))).toEqual(['a']);
    goOn();
    expect(keysOf(ready.takeBatch(1, 0))).toEqual(['b']);
  });

  test('sends alone what is too large for company, even if it could take more than a request with an aggregate around it', () => {
    const ready = readyLanes('per-key');
    for (const [key, mib] of Object.entries({ a: 6, b: 6, c: 10 })) ready.push(laneOf(key, 'low', mib * 1024 * 1024));
    expect([1, 2, 3].map(() => keysOf(ready.takeBatch(500, 0)))).toEqual([['a'], ['b'], ['c']]);
  });

  test.each([
    ['none', ['large', 'busy']],
    ['per-key', ['large']],
  ] as const)('sends what its shard has room for, with the aggregation %s: %j', (aggregation, expected) => {
    const ready = readyLanes(aggregation);
    ready.remap(TWO_SHARDS, 0);
    const busy = laneOf('busy', 'low', 1_000);
    for (let more = 1; more < 50; more++) busy.add(new SilentRecord(busy.head.record));
    for (const lane of [laneOf('large', 'low', 970_000), busy]) ready.push(lane);
    expect(keysOf(ready.takeBatch(500, 0))).toEqual(expected);
  });

  test('fills a request to no more than 10 MiB with aggregates', () => {
    const ready = readyLanes('per-key');
    // Its two records would still fit, but not with what an aggregate adds.
    const two = laneOf('two', 'low', 14_990);
    two.add(new SilentRecord(two.head.record));
    for (const lane of [laneOf('large', 'low', 10 * 1024 * 1024 - 30_000), two]) ready.push(lane);
    expect([1, 2].map(() => keysOf(ready.takeBatch(500, 0)))).toEqual([['large'], ['two']]);
  });

  test('fills a request to 10 MiB', () => {
    const ready = readyLanes();
    for (let key = 0; key < 11; key++) ready.push(laneOf(String(key), 'low', 1024 * 1024));
    expect(ready.takeBatch(500, 0)).toHaveLength(10);
    expect(ready.takeBatch(500, 0)).toHaveLength(1);
  });

  test('tells the shard that a lane was sent to, and slows that shard for a throttle', () => {
    const ready = readyLanes();
    ready.remap(TWO_SHARDS, 0);
    const throttled = laneOf('a', 'low');
    ready.push(throttled);
    const [sent] = ready.takeBatch(500, 0);
    expect(sent!.shard.shardId).toBe('low');
    sent!.shard.limiter!.throttled(0, 20);
    ready.push(laneOf('b', 'low'));
    ready.push(laneOf('c', 'high'));
    expect(keysOf(ready.takeBatch(500, 20))).toEqual(['c']);
    expect(ready.hasParked).toBe(true);
  });

  test('still answers, after a new map, for the shard that a lane was sent to', () => {
    const ready = readyLanes();
    ready.remap(TWO_SHARDS, 0);
    const [inFlight, waits] = [laneOf('a', 'high'), laneOf('b', 'high')];
    ready.push(inFlight);
    const [sent] = ready.takeBatch(500, 0);
    ready.push(waits);
    const quarter = MIDDLE / 2n;
    ready.remap(mapOf(['low', 'split 1', 'split 2'], [0n, MIDDLE, MIDDLE + quarter, HASH_KEY_SPACE]), 10);
    expect(sent!.shard.shardId).toBe('high');
    expect(ready.takeBatch(500, 10)).toMatchObject([{ lanes: [waits], shard: { shardId: 'split 1' } }]);
  });

  test('counts what was sent before the shards were known against their share', () => {
    const ready = readyLanes();
    for (const key of ['a', 'b', 'c']) ready.push(laneOf(key, 'low', 600_000));
    expect(ready.takeBatch(2, 0)).toHaveLength(2);
    ready.remap(TWO_SHARDS, 0);
    expect(ready.takeBatch(500, 0)).toEqual([]);
    expect(ready.hasParked).toBe(true);
  });

  test('counts no more than two requests of what was sent before the shards were known', () => {
    const ready = readyLanes();
    for (let key = 0; key < 1_500; key++) ready.push(laneOf(String(key), 'low'));
    for (const _ of [1, 2, 3]) expect(ready.takeBatch(500, 0)).toHaveLength(500);
    ready.remap(TWO_SHARDS, 0);
    ready.push(laneOf('next', 'low'));
    expect(keysOf(ready.takeBatch(500, 1))).toEqual(['next']);
  });

  test('keeps the share of a shard that stays, with a new map', () => {
    const ready = readyLanes();
    ready.remap(TWO_SHARDS, 0);
    for (const key of ['a', 'b', 'c']) ready.push(laneOf(key, 'low', 600_000));
    ready.takeBatch(500, 0);
    ready.remap(TWO_SHARDS, 0);
    expect(ready.takeBatch(500, 0)).toEqual([]);
  });

  test('finds a new place for a lane whose next record has another explicit hash key', () => {
    const ready = readyLanes();
    ready.remap(TWO_SHARDS, 0);
    const lane = laneOf('a', 'low');
    lane.add(new SilentRecord({ ...lane.head.record, explicitHashKey: MIDDLE }));
    ready.push(lane);
    ready.takeBatch(500, 0);
    lane.settle();
    lane.shift();
    lane.goOn();
    ready.push(lane);
    expect(ready.takeBatch(500, 0)).toMatchObject([{ lanes: [lane], shard: { shardId: 'high' } }]);
  });
});
