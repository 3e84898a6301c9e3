import { ShardLimiter } from '../../../../lib/core/producer/shard-limiter';

/** Sends records, each of one byte, while the limiter allows it, and counts them. */
function sendAll(limiter: ShardLimiter, nowMs: number): number {
  let sent = 0;
  for (; limiter.allows(1, nowMs); sent++) limiter.spend(1);
  return sent;
}

describe('ShardLimiter', () => {
  test('cuts its share once for all that was sent before the cut could show', () => {
    const limiter = new ShardLimiter(0);
    limiter.throttled(0, 20);
    const cut = limiter.share(20);
    expect(cut).toBe(0.85);
    limiter.throttled(10, 20);
    limiter.throttled(15, 20);
    expect(limiter.share(20)).toBe(cut);
  });

  test('sends the records of a second at once, and then as many as the time since allows, a second of them at most', () => {
    const limiter = new ShardLimiter(500);
    expect([500, 501, 511, 10_000, 10_000].map((nowMs) => sendAll(limiter, nowMs))).toEqual([1_000, 1, 10, 1_000, 0]);
  });

  test('sends the bytes of a second at once, and then as many as the time since allows', () => {
    const limiter = new ShardLimiter(0);
    expect(limiter.allows(1_000_000, 0)).toBe(true);
    limiter.spend(1_000_000);
    expect(limiter.bytesLeft).toBe(0);
    expect([1_000, 1_001].map((bytes) => limiter.allows(bytes, 1))).toEqual([true, false]);
    limiter.allows(1, 5_000);
    expect(limiter.bytesLeft).toBe(1_000_000);
  });

  test('sends a record that is larger than the bucket when the bucket is full', () => {
    const limiter = new ShardLimiter(0);
    expect(limiter.allows(3_000_000, 0)).toBe(true);
    limiter.spend(3_000_000);
    expect([2_000, 2_999, 3_000].map((nowMs) => limiter.allows(3_000_000, nowMs))).toEqual([false, false, true]);
  });

  test('sends nothing at once after a cut, and then only its share', () => {
    const limiter = new ShardLimiter(0);
    limiter.throttled(0, 0);
    expect(limiter.bytesLeft).toBe(0);
    expect([0, 1].map((nowMs) => sendAll(limiter, nowMs))).toEqual([0, 0]);
    expect(limiter.allows(1, 100)).toBe(true);
    expect(limiter.bytesLeft).toBeCloseTo(85_000, -3);
    expect(sendAll(limiter, 100)).toBe(85);
  });

  test('lets its share grow twice as fast each second after a cut, up to all of the shard', () => {
    const limiter = new ShardLimiter(0);
    limiter.throttled(0, 2_000);
    const shares = [2_000, 3_000, 4_000, 5_000].map((nowMs) => limiter.share(nowMs));
    const steps = shares.slice(1).map((share, index) => share - shares[index]!);
    expect(steps[0]).toBeCloseTo(0.01 / Math.LN2, 10);
    expect(steps[1]! / steps[0]!).toBeCloseTo(2, 10);
    expect(steps[2]! / steps[1]!).toBeCloseTo(2, 10);
    expect(limiter.share(60_000)).toBe(1);
  });

  test('keeps a hundredth of the shard, however often it cuts', () => {
    const limiter = new ShardLimiter(0);
    for (let nowMs = 0; nowMs < 100; nowMs++) limiter.throttled(nowMs, nowMs);
    expect(limiter.share(99)).toBe(0.01);
  });

  describe('after throttles that a cut had made room for', () => {
    /** The part of its share that a limiter keeps after so many throttles, once it has sent so many records. */
    function keptOf(limiter: ShardLimiter, records: number, throttles: number, nowMs: number): number {
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
      ['while it is far below what it cut', 2, 177],
      ['later', 4_000, 127],
    ])(
      'lets one pass for twice as many records as chance throttled: %s, at %d ms, behind %d it does not yet',
      (_, nowMs, records) => {
        expect(keptOf(throttledAt(0, 1), records, 1, nowMs)).toBeLessThan(0.9);
        expect(keptOf(throttledAt(0, 1), records + 1, 1, nowMs)).toBe(1);
      },
    );

    test('lets five pass at once, and no more', () => {
      const often = Array.from({ length: 20 }, (_, nowMs) => nowMs);
      expect(keptOf(throttledAt(...often), 1_000, 5, 20)).toBe(1);
      expect(keptOf(throttledAt(...often), 1_000, 6, 20)).toBeCloseTo(0.85, 3);
    });

    test('takes for chance no more than a twentieth, times the root of its share, and lets twice that pass', () => {
      const often = Array.from({ length: 200 }, (_, nowMs) => nowMs);
      expect(keptOf(throttledAt(...often), 99, 1, 200)).toBeLessThan(1);
      expect(keptOf(throttledAt(...often), 100, 1, 200)).toBe(1);
    });

    test.each([[[0, 3_000]], [[0, 3_000, 5_500]]])(
      'learns nothing from one of as much as was cut before: %j',
      (times) => {
        expect(keptOf(throttledAt(...times), 1_000, 1, times.at(-1)! + 1)).toBeLessThan(0.9);
      },
    );
  });
});
