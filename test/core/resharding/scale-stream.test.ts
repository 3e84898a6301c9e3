import { uniformRanges } from '../../../lib/core';
import { scaleStream } from '../../../lib/core/resharding/scale-stream';
import type { Load } from '../../../lib/core/resharding/scaling-policy';
import { FakeControlPlane, type FakeControlPlaneOptions } from '../../../lib/testing/fake-control-plane';
import { VirtualClock } from '../../../lib/testing/virtual-clock';

const MINUTE_MS = 60_000;

/** A stream whose scaler runs every minute, as its schedule has it. */
function setUp(options: Partial<FakeControlPlaneOptions>, bounds = { minShards: 2, maxShards: 64 }) {
  const clock = new VirtualClock();
  clock.nowMs = Date.UTC(2026, 10, 21);
  const kinesis = new FakeControlPlane({ clock, reshardStepMs: 1_000, ...options });
  const run = async (load: Load) => {
    const scaling = await clock.runUntil(
      scaleStream(kinesis, { streamName: 'Events', ...bounds, load, now: clock.now() }),
    );
    await clock.runUntil(clock.sleep(MINUTE_MS));
    return scaling;
  };
  const runFor = async (minutes: number, load: Load) => {
    for (let minute = 0; minute < minutes; minute += 1) await run(load);
    return kinesis.openShards.length;
  };
  return { kinesis, run, runFor };
}

describe('scaleStream', () => {
  test('doubles under a high load as often as it takes, with time in between for the load to show', async () => {
    const { kinesis, runFor } = setUp({ shardCount: 4 });
    expect(await runFor(2, 'high')).toBe(8);
    expect(await runFor(3, 'high')).toBe(8);
    expect(await runFor(20, 'high')).toBe(64);
    expect(kinesis.openShards.map(({ range }) => range)).toEqual(uniformRanges(64));
  });

  test('tells the shards that it has asked for, and how many updates the day has left', async () => {
    const { run } = setUp({ shardCount: 4 });
    expect(await run('high')).toEqual({ openShardCount: 4, desiredShardCount: 8, shardCount: 8, updatesLeft: 9 });
    expect(await run('normal')).toEqual({ openShardCount: 8, desiredShardCount: 8, shardCount: 8, updatesLeft: 9 });
  });

  test('goes to new bounds step by step', async () => {
    const { runFor } = setUp({ shardCount: 4 }, { minShards: 30, maxShards: 40 });
    expect(await runFor(5, 'normal')).toBe(30);
  });

  test('never asks for what the day does not allow, and goes on when it does again', async () => {
    const { kinesis, runFor } = setUp({ shardCount: 2 });
    for (let times = 0; times < 12; times += 1) {
      await runFor(61, 'low');
      await runFor(6, 'high');
    }
    const before = kinesis.openShards.length;
    expect(kinesis.calls.filter((call) => call === 'updateShardCount').length).toBeLessThanOrEqual(10);
    expect(before).toBeGreaterThan(2);
    expect(await runFor(24 * 60, 'low')).toBeLessThan(before);
  });

  test('leaves a stream alone that is being changed', async () => {
    const { kinesis, run } = setUp({ shardCount: 4, reshardStepMs: 10 * MINUTE_MS });
    await run('high');
    expect(await run('high')).toBeUndefined();
    expect(kinesis.calls.filter((call) => call === 'updateShardCount')).toHaveLength(1);
  });

  test('refuses an on-demand stream, which scales by itself', async () => {
    const { run } = setUp({ streamMode: 'ON_DEMAND' });
    await expect(run('high')).rejects.toMatchObject({ code: 'STREAM_NOT_RESHARDABLE' });
  });

  test('says that the stream stays as it is when Kinesis was asked too often', async () => {
    const { run } = setUp({
      shardCount: 4,
      callFate: (operation) => (operation === 'updateShardCount' ? 'throttled' : 'answered'),
    });
    expect(await run('high')).toMatchObject({ desiredShardCount: 8, shardCount: 4, updatesLeft: 10 });
  });
});
