import { Backlog } from '../../../../lib/core/producer/backlog';
import { Lane } from '../../../../lib/core/producer/lane';
import { SilentRecord } from './silent-record';

/** A backlog that holds so many records of one key, of so many bytes each, and that key's lane. */
function holding(limits: { maxBufferedRecords: number; maxBufferedBytes: number }, records: number, bytes: number) {
  const backlog = new Backlog(limits);
  const lane = new Lane('key');
  for (let record = 0; record < records; record++) {
    const pending = new SilentRecord({ partitionKey: 'key', data: Buffer.alloc(bytes) });
    backlog.add(pending);
    lane.add(pending);
  }
  const hasRoom = (of?: Lane) => backlog.room(of) === undefined;
  return { backlog, lane, hasRoomForKey: hasRoom(lane), hasRoomForOthers: hasRoom() };
}

describe('Backlog', () => {
  const limits = { maxBufferedRecords: 8, maxBufferedBytes: 400 };

  test.each([
    [1, 99, true, true],
    [1, 100, false, true],
    [2, 1, false, true],
    [7, 1, false, true],
    [8, 1, false, false],
    [1, 399, false, true],
    [1, 400, false, false],
  ])(
    'with %d records of %d bytes of one key, has room for it: %s; for others: %s',
    (records, bytes, forKey, forOthers) => {
      expect(holding(limits, records, bytes)).toMatchObject({ hasRoomForKey: forKey, hasRoomForOthers: forOthers });
    },
  );

  test('always lets one record of a key in, however small the buffer is', () => {
    expect(holding({ maxBufferedRecords: 1, maxBufferedBytes: 1 }, 0, 0).hasRoomForKey).toBe(true);
    expect(holding({ maxBufferedRecords: 2, maxBufferedBytes: 400 }, 1, 1).hasRoomForKey).toBe(false);
  });

  test('tells whoever waits as soon as there is room, and no sooner', async () => {
    const { backlog, lane } = holding(limits, 8, 1);
    let isTold = false;
    const told = backlog.room(undefined)!.then(() => {
      isTold = true;
    });
    await Promise.resolve();
    expect(isTold).toBe(false);
    backlog.remove(lane.head);
    await told;
    expect(backlog.room(undefined)).toBeUndefined();
    backlog.add(lane.head);
    expect(backlog.room(undefined)).toBeDefined();
  });
});
