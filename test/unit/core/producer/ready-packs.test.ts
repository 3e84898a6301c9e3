import { deaggregate } from '../../../../lib/core';
import { Lane } from '../../../../lib/core/producer/lane';
import { hashKeyOfEntry, Placement } from '../../../../lib/core/producer/placement';
import { ReadyPacks } from '../../../../lib/core/producer/ready-packs';
import { UnitFormer } from '../../../../lib/core/producer/unit-former';

function readyPacks(lingerMs: number): ReadyPacks {
  const placement = new Placement({ hashBuckets: 2 });
  const options = { aggregation: 'packed', maxAggregateBytes: 51_200, producerId: undefined, lingerMs } as const;
  return new ReadyPacks(new UnitFormer(options, placement), placement, options);
}

/** A lane of records that have these explicit hash keys. */
function laneOf(partitionKey: string, ...explicitHashKeys: (bigint | undefined)[]): Lane {
  const lane = new Lane(partitionKey);
  for (const explicitHashKey of explicitHashKeys) {
    const record = { partitionKey, data: Buffer.of(1), explicitHashKey };
    lane.add({ record, bytes: 1, end: { delivered: () => {}, rejected: () => {} }, putAtMs: 0 });
  }
  return lane;
}

/** The first record of a lane expires while the lane is ready, and the lane becomes ready with the next one. */
function expireFirst(lane: Lane, ready: ReadyPacks, nowMs: number): void {
  lane.settle();
  lane.shift();
  lane.goOn();
  ready.push(lane, nowMs);
}

const hashKeysOf = (ready: ReadyPacks, nowMs: number) =>
  ready.takeBatch(500, nowMs).map(({ entry, lanes }) => ({
    hashKey: hashKeyOfEntry(entry),
    records: deaggregate({ partitionKey: entry.PartitionKey, data: entry.Data }).map((each) => each.explicitHashKey),
    lanes: lanes.map(({ partitionKey }) => partitionKey),
  }));

describe('ReadyPacks', () => {
  test('sends a record to its own hash key, though the record before it expired while it waited at another', () => {
    const ready = readyPacks(0);
    const lane = laneOf('a', 7n, 8n);
    ready.push(lane, 0);
    ready.push(laneOf('b', 7n), 0);
    expireFirst(lane, ready, 0);
    expect(hashKeysOf(ready, 0)).toEqual([
      { hashKey: 7n, records: [7n], lanes: ['b'] },
      { hashKey: 8n, records: [8n], lanes: ['a'] },
    ]);
    expect(ready.hasTurns).toBe(false);
  });

  test('does not let a record out with company that it no longer has', () => {
    const ready = readyPacks(5);
    const lane = laneOf('a', 7n, 8n);
    ready.push(lane, 0);
    expireFirst(lane, ready, 4);
    ready.endLingering(5);
    expect(hashKeysOf(ready, 5)).toEqual([]);
    ready.endLingering(9);
    expect(hashKeysOf(ready, 9)).toEqual([{ hashKey: 8n, records: [8n], lanes: ['a'] }]);
  });

  test('sends a lane once, though it became ready again at the same hash key while it queued', () => {
    const ready = readyPacks(0);
    const lane = laneOf('a', 7n, 7n);
    ready.push(lane, 0);
    expireFirst(lane, ready, 0);
    expect(hashKeysOf(ready, 0)).toEqual([{ hashKey: 7n, records: [7n], lanes: ['a'] }]);
    expect(ready.hasTurns).toBe(false);
  });
});
