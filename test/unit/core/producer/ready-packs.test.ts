import { deaggregate } from '../../../../lib/core';
import { systemClock } from '../../../../lib/core/foundation/clock';
import { Lane } from '../../../../lib/core/producer/lane';
import { hashKeyOfEntry, Placement } from '../../../../lib/core/producer/placement';
import { ReadyPacks } from '../../../../lib/core/producer/ready-packs';
import { UnitFormer } from '../../../../lib/core/producer/unit-former';
import { SilentRecord } from './silent-record';

/** The time, for the test to set. */
let nowMs: number;
const clock = { ...systemClock, now: () => nowMs };

function readyPacks(lingerMs: number): ReadyPacks {
  nowMs = 0;
  const placement = new Placement({ hashBuckets: 2 });
  const options = { aggregation: 'packed', maxAggregateBytes: 51_200, producerId: undefined, lingerMs, clock } as const;
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
});
