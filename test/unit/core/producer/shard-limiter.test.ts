import { ShardLimiter } from '../../../../lib/core/producer/shard-limiter';

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

  test('cuts once for a request that took no time', () => {
    const limiter = new ShardLimiter(0);
    for (let entry = 0; entry < 500; entry++) limiter.throttled(0, 0);
    expect(limiter.share(0)).toBe(0.85);
  });

  test('cuts again for what was sent after a cut', () => {
    const limiter = new ShardLimiter(0);
    limiter.throttled(0, 20);
    limiter.throttled(21, 41);
    expect(limiter.share(41)).toBeCloseTo(0.85 * 0.85, 2);
  });
});
