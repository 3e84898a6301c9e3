import { uniformRanges } from '../../../../lib/core';
import { scaleStream } from '../../../../lib/core/resharding/scale-stream';
import type { Load } from '../../../../lib/core/resharding/scaling-policy';
import { UPDATE_HISTORY_TAG } from '../../../../lib/core/resharding/update-history';
import { FakeControlPlane, type FakeControlPlaneOptions } from '../../../../lib/testing/fake-control-plane';
import { serviceError } from '../../../../lib/testing/service-error';
import { VirtualClock } from '../../../../lib/testing/virtual-clock';

const MINUTE_MS = 60_000;

/** A stream with a scaler that runs every minute. */
function setUp(options: Partial<FakeControlPlaneOptions>, bounds = { minShards: 2, maxShards: 64 }) {
  const clock = new VirtualClock();
  clock.nowMs = Date.UTC(2026, 10, 21);
  const kinesis = new FakeControlPlane({ clock, reshardStepMs: 1_000, ...options });
  let offByMs = 0;
  const run = async (load: Load | Error) => {
    const readLoad = () => (load instanceof Error ? Promise.reject(load) : Promise.resolve(load));
    const scaling = await clock.runUntil(
      scaleStream(kinesis, { streamName: 'Events', ...bounds, readLoad, now: clock.now() + offByMs }),
    );
    await clock.runUntil(clock.sleep(MINUTE_MS));
    return scaling;
  };
  const runFor = async (minutes: number, load: Load) => {
    for (let minute = 0; minute < minutes; minute += 1) await run(load);
    return kinesis.openShards.length;
  };
  const jump = (byMs: number) => {
    offByMs += byMs;
  };
  return { kinesis, run, runFor, jump };
}

const updateCount = ({ calls }: FakeControlPlane) => calls.filter((call) => call === 'updateShardCount').length;

describe('scaleStream', () => {
  test('doubles the shards while the load rises, up to the maximum, with a pause after each change', async () => {
    const { kinesis, runFor } = setUp({ shardCount: 4 });
    expect(await runFor(2, 'surging')).toBe(8);
    expect(await runFor(8, 'surging')).toBe(8);
    expect(await runFor(35, 'surging')).toBe(64);
    expect(kinesis.openShards.map(({ range }) => range)).toEqual(uniformRanges(64));
  });

  test('returns the shard count that it has requested and the number of updates that are left for the day', async () => {
    const { run } = setUp({ shardCount: 6 });
    expect(await run('high')).toEqual({ load: 'high', desiredShardCount: 8, shardCount: 8, updatesLeft: 9 });
    expect(await run('normal')).toEqual({ load: 'normal', desiredShardCount: 8, shardCount: 8, updatesLeft: 9 });
  });

  test('reaches a new minimum or maximum in several updates', async () => {
    const { runFor } = setUp({ shardCount: 4 }, { minShards: 30, maxShards: 40 });
    expect(await runFor(5, 'normal')).toBe(30);
  });

  test('never sends more updates than Kinesis allows in a day, and continues when updates are allowed again', async () => {
    const { kinesis, runFor } = setUp({ shardCount: 2 });
    for (let times = 0; times < 12; times += 1) {
      await runFor(61, 'low');
      await runFor(11, 'surging');
    }
    const before = kinesis.openShards.length;
    expect(updateCount(kinesis)).toBeLessThanOrEqual(10);
    expect(before).toBeGreaterThan(2);
    expect(await runFor(24 * 60, 'low')).toBeLessThan(before);
  });

  test('does not change a stream that is already being changed, and returns the shard count to which it is being changed', async () => {
    const { kinesis, run } = setUp({ shardCount: 4, reshardStepMs: 10 * MINUTE_MS });
    await run('surging');
    expect(await run('surging')).toEqual({ shardCount: 8, updatesLeft: 9 });
    expect(updateCount(kinesis)).toBe(1);
  });

  test('rejects an on-demand stream, because Kinesis scales such a stream', async () => {
    const { run } = setUp({ streamMode: 'ON_DEMAND' });
    await expect(run('high')).rejects.toMatchObject({ code: 'STREAM_NOT_RESHARDABLE' });
  });

  test.each(['updateShardCount', 'addTagsToStream'])(
    'returns the unchanged shard count if Kinesis throttles %s',
    async (throttled) => {
      const { kinesis, run } = setUp({
        shardCount: 6,
        callFate: (operation) => (operation === throttled ? 'throttled' : 'answered'),
      });
      expect(await run('high')).toMatchObject({ desiredShardCount: 8, shardCount: 6, updatesLeft: 10 });
      expect(kinesis.tags.get(UPDATE_HISTORY_TAG) ?? '').toBe('');
    },
  );

  test.each([
    [9, 8],
    [10, 4],
  ])(
    'changes the stream to a new minimum only if updates are left: after %d updates, the stream has %d shards',
    async (used, shards) => {
      const { kinesis, runFor } = setUp({ shardCount: 4 }, { minShards: 8, maxShards: 64 });
      kinesis.tags.set(UPDATE_HISTORY_TAG, Array(used).fill('2026-11-20T2300Z=4').join(' '));
      expect(await runFor(2, 'normal')).toBe(shards);
      expect(updateCount(kinesis)).toBe(10 - used);
    },
  );

  test('sends at most one request per hour after other programs have used the updates of the day', async () => {
    const { kinesis, run, runFor } = setUp({ shardCount: 8 });
    kinesis.updateShardCount = () => {
      kinesis.calls.push('updateShardCount');
      return Promise.reject(serviceError('LimitExceededException', 'at most 10 updates in a rolling day'));
    };
    expect(await run('high')).toEqual({ shardCount: 8, updatesLeft: 0 });
    expect(await run('high')).toMatchObject({ shardCount: 8, desiredShardCount: 8, updatesLeft: 0 });
    await runFor(57, 'high');
    expect(updateCount(kinesis)).toBe(1);
    await runFor(3, 'high');
    expect(updateCount(kinesis)).toBe(2);
  });

  test.each([
    ['answer lost', 8],
    ['failed', 6],
  ] as const)(
    'counts an update even if the response to the request is missing or an error: %s',
    async (fate, shardCount) => {
      const { kinesis, run } = setUp({
        shardCount: 6,
        callFate: (operation) => (operation === 'updateShardCount' ? fate : 'answered'),
      });
      expect(await run('high')).toMatchObject({ shardCount: 6, failure: expect.anything() });
      expect(await run('normal')).toMatchObject({ shardCount, updatesLeft: 9 });
      expect(kinesis.tags.get(UPDATE_HISTORY_TAG)).toBe('2026-11-21T0000Z=8');
    },
  );
});
