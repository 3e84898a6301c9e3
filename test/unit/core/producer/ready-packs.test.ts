import { deaggregate, HASH_KEY_SPACE } from '../../../../lib/core';
import { systemClock } from '../../../../lib/core/kernel/clock';
import { Lane } from '../../../../lib/core/producer/lane';
import type { OutgoingRecord } from '../../../../lib/core/producer/outgoing-record';
import { hashKeyOfEntry, Placement } from '../../../../lib/core/producer/placement';
import { ReadyPacks } from '../../../../lib/core/producer/ready-packs';
import { ShardMap } from '../../../../lib/core/producer/shard-map';
import { UnitFormer } from '../../../../lib/core/producer/unit-former';
import { SilentRecord } from './silent-record';

const MAX_REQUEST_BYTES = 10 * 1024 * 1024;
const MAX_PACK_BYTES = 51_200;

/** The time, for the test to set. */
let nowMs: number;
const clock = { ...systemClock, now: () => nowMs };

function readyPacks(lingerMs: number): ReadyPacks {
  nowMs = 0;
  const placement = new Placement({ hashBuckets: 2 });
  const options = {
    aggregation: 'packed',
    maxAggregateBytes: MAX_PACK_BYTES,
    producerId: undefined,
    lingerMs,
    clock,
  } as const;
  return new ReadyPacks(new UnitFormer(options, placement), placement, options);
}

/** A lane of records that have these explicit hash keys. */
function laneOf(partitionKey: string, ...explicitHashKeys: (bigint | undefined)[]): Lane {
  const lane = new Lane(partitionKey);
  for (const explicitHashKey of explicitHashKeys) {
    const record = { partitionKey, data: Buffer.of(1), explicitHashKey };
    lane.add(new SilentRecord(record));
  }
  return lane;
}

/** A lane of one record of so many bytes, which has this explicit hash key. */
function laneOfBytes(bytes: number, explicitHashKey: bigint): Lane {
  const lane = new Lane(String(explicitHashKey));
  lane.add(new SilentRecord({ partitionKey: lane.partitionKey, data: Buffer.alloc(bytes), explicitHashKey }));
  return lane;
}

/** The first record of a lane expires while the lane is ready, and the lane becomes ready with the next one. */
function expireFirst(lane: Lane, ready: ReadyPacks): void {
  lane.settle();
  lane.shift();
  lane.goOn();
  ready.push(lane);
}

const hashKeysOf = (ready: ReadyPacks, atMs: number) =>
  ready.takeBatch(500, atMs).map(({ entry, lanes }) => ({
    hashKey: hashKeyOfEntry(entry),
    records: deaggregate({ partitionKey: entry.PartitionKey, data: entry.Data }).map((each) => each.explicitHashKey),
    lanes: lanes.map(({ partitionKey }) => partitionKey),
  }));

describe('ReadyPacks', () => {
  test('sends a record to its own hash key, though the record before it expired while it waited at another', () => {
    const ready = readyPacks(0);
    const lane = laneOf('a', 7n, 8n);
    ready.push(lane);
    ready.push(laneOf('b', 7n));
    expireFirst(lane, ready);
    expect(hashKeysOf(ready, 0)).toEqual([
      { hashKey: 7n, records: [7n], lanes: ['b'] },
      { hashKey: 8n, records: [8n], lanes: ['a'] },
    ]);
    expect(ready.hasTurns).toBe(false);
  });

  test('sends a lane to a hash key where all lanes before it ended while they waited', () => {
    const ready = readyPacks(0);
    const ended = laneOf('a', 7n);
    ready.push(ended);
    ended.end();
    expect(hashKeysOf(ready, 0)).toEqual([]);
    ready.push(laneOf('b', 7n));
    expect(hashKeysOf(ready, 0)).toMatchObject([{ lanes: ['b'] }]);
  });

  test('does not let a record out with company that it no longer has', () => {
    const ready = readyPacks(5);
    const lane = laneOf('a', 7n, 8n);
    ready.push(lane);
    nowMs = 4;
    expireFirst(lane, ready);
    ready.endLingering(5);
    expect(hashKeysOf(ready, 5)).toEqual([]);
    ready.endLingering(9);
    expect(hashKeysOf(ready, 9)).toEqual([{ hashKey: 8n, records: [8n], lanes: ['a'] }]);
  });

  test('sends a lane once, though it became ready again at the same hash key while it queued', () => {
    const ready = readyPacks(0);
    const lane = laneOf('a', 7n, 7n);
    ready.push(lane);
    expireFirst(lane, ready);
    expect(hashKeysOf(ready, 0)).toEqual([{ hashKey: 7n, records: [7n], lanes: ['a'] }]);
    expect(ready.hasTurns).toBe(false);
  });

  test('keeps the turns of lanes that share no pack, though one becomes ready again before its turn, and after it', () => {
    const ready = readyPacks(0);
    const [lane, other] = [laneOfBytes(40_000, 7n), laneOfBytes(40_001, 7n)];
    const goOn = () => {
      lane.settle();
      lane.goOn();
      ready.push(lane);
    };
    ready.push(lane);
    goOn();
    ready.push(other);
    expect(ready.takeBatch(1, 0)).toMatchObject([{ lanes: [lane] }]);
    goOn();
    expect(ready.takeBatch(1, 0)).toMatchObject([{ lanes: [other] }]);
  });

  test('lets each company linger for its own time, whatever went before it', () => {
    const ready = readyPacks(5);
    ready.push(laneOfBytes(MAX_PACK_BYTES, 7n));
    expect(ready.takeBatch(1, 0)).toHaveLength(1);
    const [second, third] = [laneOfBytes(1, 7n), laneOfBytes(2, 7n)];
    nowMs = 3;
    ready.push(second);
    ready.endLingering(5);
    expect(ready.takeBatch(1, 5)).toEqual([]);
    ready.push(third);
    ready.endLingering(8);
    expect(ready.takeBatch(1, 8)).toMatchObject([{ lanes: [second, third] }]);
  });

  test('lets a unit that is sent again linger, however much was put behind it', () => {
    const ready = readyPacks(5);
    const lane = laneOf('a', 7n);
    ready.push(lane);
    ready.endLingering(5);
    expect(ready.takeBatch(1, 5)).toHaveLength(1);
    lane.backOff(() => {});
    ready.push(lane);
    lane.add(new SilentRecord({ partitionKey: 'a', data: Buffer.alloc(MAX_PACK_BYTES), explicitHashKey: 7n }));
    ready.grow(lane, MAX_PACK_BYTES);
    expect(ready.hasTurns).toBe(false);
  });

  test('fills a request to 10 MiB, as if the last pack was a full one', () => {
    const requestsAfter = (bytes: number): number[] => {
      const ready = readyPacks(0);
      ready.push(laneOfBytes(bytes, 7n));
      ready.push(laneOfBytes(1, 8n));
      const requests: number[] = [];
      while (ready.hasTurns) requests.push(ready.takeBatch(500, 0).length);
      return requests;
    };
    const probe = readyPacks(0);
    probe.push(laneOfBytes(MAX_REQUEST_BYTES, 7n));
    const overhead = probe.takeBatch(500, 0)[0]!.bytes - MAX_REQUEST_BYTES;
    const most = MAX_REQUEST_BYTES - MAX_PACK_BYTES - overhead;
    expect(requestsAfter(most)).toEqual([2]);
    expect(requestsAfter(most + 1)).toEqual([1, 1]);
  });

  test('counts for each unit what it adds to a pack', () => {
    const ready = readyPacks(0);
    for (const bytes of [100, 200]) ready.push(laneOf(String(bytes), ...Array(bytes).fill(7n)));
    const [{ bytes, lanes }] = ready.takeBatch(1, 0) as [OutgoingRecord];
    const [first, second] = lanes.map(({ unit }) => unit!.bytes) as [number, number];
    expect(first + second).toBe(bytes);
    expect(second).toBeGreaterThan(first);
  });

  test('parks a shard that has had its share, until it may try again', () => {
    const ready = readyPacks(0);
    const range = { StartingHashKey: '0', EndingHashKey: String(HASH_KEY_SPACE - 1n) };
    ready.remap(new ShardMap([{ ShardId: 'only', HashKeyRange: range }]), 0);
    ready.push(laneOfBytes(1_000_000, 7n));
    ready.push(laneOfBytes(1, 8n));
    expect(hashKeysOf(ready, 0).map(({ lanes }) => lanes)).toEqual([['7']]);
    expect(ready).toMatchObject({ hasTurns: false, hasParked: true });
    ready.unpark();
    expect(ready).toMatchObject({ hasTurns: true, hasParked: false });
    expect(hashKeysOf(ready, 1_000).map(({ lanes }) => lanes)).toEqual([['8']]);
  });
});
