import { ShardLimiter } from '../../../../lib/core/producer/shard-limiter';

/** Sends records of one byte as long as the limiter allows this. Returns the number of records. */
function sendAll(limiter: ShardLimiter, nowMs: number): number {
  let sent = 0;
  for (; limiter.allows(1, nowMs); sent++) limiter.spend(1);
  return sent;
}

describe('ShardLimiter', () => {
  test('reduces the share of the shard limit only once if several requests that were sent before the reduction are throttled', () => {
    const limiter = new ShardLimiter(0);
    limiter.throttled(0, 20);
    const cut = limiter.share(20);
    expect(cut).toBe(0.85);
    limiter.throttled(10, 20);
    limiter.throttled(15, 20);
    expect(limiter.share(20)).toBe(cut);
  });

  test('allows the records of one second immediately, and after that the record limit per second', () => {
    const limiter = new ShardLimiter(500);
    expect([500, 501, 511, 10_000, 10_000].map((nowMs) => sendAll(limiter, nowMs))).toEqual([1_000, 1, 10, 1_000, 0]);
  });

  test('allows the bytes of one second immediately, and after that the byte limit per second', () => {
    const limiter = new ShardLimiter(0);
    expect(limiter.allows(1_000_000, 0)).toBe(true);
    limiter.spend(1_000_000);
    expect(limiter.bytesLeft).toBe(0);
    expect([1_000, 1_001].map((bytes) => limiter.allows(bytes, 1))).toEqual([true, false]);
    limiter.allows(1, 5_000);
    expect(limiter.bytesLeft).toBe(1_000_000);
  });

  test('allows a record above the byte limit of one second if no bytes were used before', () => {
    const limiter = new ShardLimiter(0);
    expect(limiter.allows(3_000_000, 0)).toBe(true);
    limiter.spend(3_000_000);
    expect([2_000, 2_999, 3_000].map((nowMs) => limiter.allows(3_000_000, nowMs))).toEqual([false, false, true]);
  });

  test('allows nothing directly after a reduction, and later only the reduced share', () => {
    const limiter = new ShardLimiter(0);
    limiter.throttled(0, 0);
    expect(limiter.bytesLeft).toBe(0);
    expect([0, 1].map((nowMs) => sendAll(limiter, nowMs))).toEqual([0, 0]);
    expect(limiter.allows(1, 100)).toBe(true);
    expect(limiter.bytesLeft).toBeCloseTo(85_000, -3);
    expect(sendAll(limiter, 100)).toBe(85);
  });

  test('increases the share after a reduction, in each second by twice as much as in the second before, up to the full limit', () => {
    const limiter = new ShardLimiter(0);
    limiter.throttled(0, 2_000);
    const shares = [2_000, 3_000, 4_000, 5_000].map((nowMs) => limiter.share(nowMs));
    const steps = shares.slice(1).map((share, index) => share - shares[index]!);
    expect(steps[0]).toBeCloseTo(0.01 / Math.LN2, 10);
    expect(steps[1]! / steps[0]!).toBeCloseTo(2, 10);
    expect(steps[2]! / steps[1]!).toBeCloseTo(2, 10);
    expect(limiter.share(60_000)).toBe(1);
  });

  test('never reduces the share below 1 % of the limit of a shard', () => {
    const limiter = new ShardLimiter(0);
    for (let nowMs = 0; nowMs < 100; nowMs++) limiter.throttled(nowMs, nowMs);
    expect(limiter.share(99)).toBe(0.01);
  });

  describe('after the limiter has learned the rate of random throttles from several throttles', () => {
    /**
     * Sends `records` records, and then throttles the limiter `throttles` times. Returns the share of the
     * limiter after the throttles, divided by its share before the throttles.
     */
    function keptShare(limiter: ShardLimiter, records: number, throttles: number, nowMs: number): number {
      for (let record = 0; record < records; record++) {
        limiter.allows(1, nowMs);
        limiter.spend(1);
      }
      const before = limiter.share(nowMs);
      for (let throttle = 0; throttle < throttles; throttle++) limiter.throttled(nowMs, nowMs);
      return limiter.share(nowMs) / before;
    }

    function throttledAt(...times: number[]): ShardLimiter {
      const limiter = new ShardLimiter(0);
      for (const nowMs of times) limiter.throttled(nowMs, nowMs);
      return limiter;
    }

    test.each([
      ['at a share far below the previous reduction', 2, 177],
      ['at a later time', 4_000, 127],
    ])(
      'the limiter ignores one throttle if the throttled part of the records is at most twice the rate of random throttles: throttled %s, at %d ms, not yet after %d records',
      (_, nowMs, records) => {
        expect(keptShare(throttledAt(0, 1), records, 1, nowMs)).toBeLessThan(0.9);
        expect(keptShare(throttledAt(0, 1), records + 1, 1, nowMs)).toBe(1);
      },
    );

    test('the limiter ignores five throttles in succession, and reduces the share after the sixth throttle', () => {
      const manyTimes = Array.from({ length: 20 }, (_, nowMs) => nowMs);
      expect(keptShare(throttledAt(...manyTimes), 1_000, 5, 20)).toBe(1);
      expect(keptShare(throttledAt(...manyTimes), 1_000, 6, 20)).toBeCloseTo(0.85, 3);
    });

    test('the rate of random throttles is at most 5 % multiplied by the square root of the share', () => {
      const manyTimes = Array.from({ length: 200 }, (_, nowMs) => nowMs);
      expect(keptShare(throttledAt(...manyTimes), 99, 1, 200)).toBeLessThan(1);
      expect(keptShare(throttledAt(...manyTimes), 100, 1, 200)).toBe(1);
    });

    test.each([[[0, 3_000]], [[0, 3_000, 5_500]]])(
      'throttles at the same share as the previous reduction do not change the rate: %j',
      (times) => {
        expect(keptShare(throttledAt(...times), 1_000, 1, times.at(-1)! + 1)).toBeLessThan(0.9);
      },
    );
  });
});
