import { firstConnection } from '../../../../lambda/outbox-relay/first-connection';
import { VirtualClock } from '../../../../lib/testing';

const ATTEMPT_MS = 10_000;

/** A pool whose database accepts connections from `acceptsAtMs` on. Before this time, each attempt times out. */
function poolFrom(clock: VirtualClock, acceptsAtMs: number, failure: object = {}) {
  const released: unknown[] = [];
  const connect = async () => {
    const begunAtMs = clock.now();
    await clock.sleep(Math.min(ATTEMPT_MS, Math.max(0, acceptsAtMs - begunAtMs)));
    if (clock.now() < acceptsAtMs) throw Object.assign(new Error('timeout'), failure);
    return { release: (isBroken?: boolean) => released.push(isBroken) };
  };
  return { pool: { connect } as never, released };
}

describe('firstConnection', () => {
  beforeEach(() => void jest.spyOn(console, 'warn').mockImplementation(() => {}));
  afterEach(() => void jest.restoreAllMocks());

  test.each([0, 15_000, 35_000])('waits for a database that needs %d ms to resume', async (acceptsAtMs) => {
    const clock = new VirtualClock();
    const { pool, released } = poolFrom(clock, acceptsAtMs);
    await clock.runUntil(firstConnection(pool, 890_000, clock));
    expect([clock.now(), released]).toEqual([acceptsAtMs, [undefined]]);
  });

  test.each([
    ['a minute', 890_000, 60_000],
    ['the time of its invocation', 30_000, 30_000],
    ['less time than one attempt takes', 2_000, 2_000],
  ])('throws the error of the last attempt after %s', async (_, withinMs, mostMs) => {
    const clock = new VirtualClock();
    const { pool } = poolFrom(clock, Number.POSITIVE_INFINITY);
    await expect(clock.runUntil(firstConnection(pool, withinMs, clock))).rejects.toMatchObject({
      code: 'OUTBOX_CONNECTION',
    });
    expect(clock.now()).toBe(mostMs);
  });

  test.each(['28P01', '3D000'])('does not retry a permanent error: %s', async (code) => {
    const clock = new VirtualClock();
    const { pool } = poolFrom(clock, Number.POSITIVE_INFINITY, { code });
    await expect(clock.runUntil(firstConnection(pool, 890_000, clock))).rejects.toMatchObject({ code });
    expect(clock.now()).toBe(ATTEMPT_MS);
  });
});
