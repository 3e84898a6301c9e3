import fc from 'fast-check';
import { type EvenShardsError, uniformRanges } from '../../../../lib/core';
import { DEPLOYMENT_TAG } from '../../../../lib/core/resharding/deployment-mark';
import { describeOperation } from '../../../../lib/core/resharding/plan-stream-reshard';
import { DailyUpdateLimitError, ReshardSupersededError } from '../../../../lib/core/resharding/reshard-errors';
import {
  advanceDeployment,
  type DeploymentOptions,
  inspectStream,
  type ReshardProgress,
  reshardStream,
} from '../../../../lib/core/resharding/reshard-stream';
import { skewOf } from '../../../../lib/core/resharding/skew';
import { MAX_SKEW } from '../../../../lib/core/resharding/thresholds';
import { formatUpdateHistory, UPDATE_HISTORY_TAG } from '../../../../lib/core/resharding/update-history';
import {
  type CallFate,
  FakeControlPlane,
  type FakeControlPlaneOptions,
} from '../../../../lib/testing/fake-control-plane';
import { seededRandom } from '../../../../lib/testing/seeded-random';
import { VirtualClock } from '../../../../lib/testing/virtual-clock';
import { randomRuns, randomRunsTimeout } from '../../../support/random-runs';
import { anyRanges, rangesBetween } from './hash-key-ranges';

const HOUR_MS = 60 * 60 * 1_000;
const quarter = 2n ** 126n;

function setUp(options: Partial<FakeControlPlaneOptions> = {}) {
  const clock = new VirtualClock();
  const kinesis = new FakeControlPlane({ clock, ...options });
  const progress: ReshardProgress[] = [];
  const time = {
    clock,
    timeOfDay: () => clock.now(),
    onProgress: (step: ReshardProgress) => void progress.push(step),
  };
  const reshard = (shardCount: number, options: Partial<Parameters<typeof reshardStream>[2]> = {}) =>
    clock.runUntil(reshardStream(kinesis, { streamName: 'Events', shardCount }, { ...time, ...options }));
  return { clock, kinesis, progress, reshard, time };
}

const ranges = (kinesis: FakeControlPlane) => kinesis.openShards.map(({ range }) => range);

/** The stream has this number of shards of equal width. Rounding may move a boundary by some hash keys. */
function expectEven(kinesis: FakeControlPlane, shardCount: number): void {
  expect(kinesis.openShards).toHaveLength(shardCount);
  expect(skewOf(ranges(kinesis))).toBeLessThan(1.000001);
}

const callsThatChange = ({ calls }: FakeControlPlane) =>
  calls.filter((call) => /^(update|split|merge)/.test(call)).map((call) => call.replace(/Shards?(Count)?$/, ''));

const deployment = (startedAt: number): DeploymentOptions => ({
  startedAt,
  onTagFailure: (error) => {
    throw error;
  },
});

/** Gives the first call of this operation this fate. All other calls succeed. */
const firstCall = (operation: string, fate: CallFate) => {
  let calls = 0;
  return (call: string): CallFate => (call === operation && calls++ === 0 ? fate : 'answered');
};

function errorOf<T>(promise: Promise<T>): Promise<EvenShardsError> {
  return promise.then(
    () => Promise.reject(new Error('no error was thrown')),
    (error) => error,
  );
}

describe('reshardStream', () => {
  test('makes one change after the other, and reports the open shards and their skew', async () => {
    const { kinesis, reshard, progress } = setUp({ shardCount: 4 });
    expect(await reshard(32)).toEqual({ state: 'even', openShardCount: 32, skew: 1, plan: [] });
    expect(callsThatChange(kinesis)).toEqual(['update', 'update', 'update']);
    expect(progress.filter(({ state }) => state === 'uneven').map(({ plan }) => describeOperation(plan[0]!))).toEqual([
      'update the shard count to 8',
      'update the shard count to 16',
      'update the shard count to 32',
    ]);
  });

  test('throws the reason of its aborted signal before it sends the next request', async () => {
    const { kinesis, reshard } = setUp({ shardCount: 4 });
    const ending = new AbortController();
    const onProgress = () => ending.abort(new Error('no more time'));
    await expect(reshard(8, { onProgress, signal: ending.signal })).rejects.toThrow('no more time');
    expect(kinesis.calls.filter((call) => call === 'describeStreamSummary')).toHaveLength(1);
  });

  test('changes nothing on a stream that already has even shards of the target count', async () => {
    const { kinesis, reshard } = setUp({ shardCount: 5 });
    await reshard(5);
    expect(kinesis.calls).toEqual(['describeStreamSummary', 'listShards']);
  });

  test(
    'changes a stream from any shard count to any other shard count, and the shards are even at the end',
    async () => {
      const counts = fc.integer({ min: 1, max: 1_500 });
      await fc.assert(
        fc.asyncProperty(counts, counts, async (from, to) => {
          // Kinesis allows ten doublings or halvings in a day.
          fc.pre(to <= 1_024 * from && from <= 1_024 * to);
          const { kinesis, reshard } = setUp({ shardCount: from, roundTripMs: () => 0 });
          await reshard(to);
          expectEven(kinesis, to);
        }),
        { numRuns: randomRuns(8) },
      );
    },
    randomRunsTimeout(60_000),
  );

  test(
    'makes the shards of any stream even, although requests fail or the list of shards is outdated',
    async () => {
      const count = fc.option(fc.integer({ min: 1, max: 30 }), { freq: 2, nil: undefined });
      const runs = fc.record({ start: anyRanges, count, seed: fc.integer(), isOutdated: fc.boolean() });
      await fc.assert(
        fc.asyncProperty(runs, async ({ start, count: to = start.length, seed, isOutdated }) => {
          const random = seededRandom(seed);
          const callFate = (): CallFate => (random() < 0.1 ? failures[Math.floor(random() * 3)]! : 'answered');
          const fault = isOutdated ? { listShardsAgeMs: () => random() * 15_000, reshardStepMs: 300 } : { callFate };
          const { kinesis, reshard } = setUp({ ranges: start, roundTripMs: () => 0, ...fault });
          await untilItSucceeds(() => reshard(to));
          expect(kinesis.openShards).toHaveLength(to);
          expect(skewOf(ranges(kinesis))).toBeLessThanOrEqual(MAX_SKEW);
        }),
        { numRuns: randomRuns(120) },
      );
    },
    randomRunsTimeout(60_000),
  );
});

const failures: CallFate[] = ['failed', 'throttled', 'answer lost'];

/** Calls `work` until it succeeds, as when a failed deployment is run again. */
async function untilItSucceeds<T>(work: () => Promise<T>): Promise<T> {
  for (let attempts = 0; attempts < 1_000; attempts += 1) {
    try {
      return await work();
    } catch (error) {
      if (error instanceof DailyUpdateLimitError) throw error;
    }
  }
  throw new Error('it failed a thousand times');
}

describe('the daily limit of updates', () => {
  const lastUpdates = ({ tags }: FakeControlPlane) => tags.get(UPDATE_HISTORY_TAG)!.split(' ');

  test('the updates are counted in a tag of the stream, and other tags do not change', async () => {
    const { kinesis, reshard } = setUp({ shardCount: 4 });
    for (const key of ['a', 'b', 'c', 'd', 'z']) kinesis.tags.set(key, 'other');
    await reshard(32);
    expect(lastUpdates(kinesis)).toHaveLength(3);
    expect(kinesis.tags.size).toBe(6);
    await reshard(4);
    expect(lastUpdates(kinesis)).toHaveLength(6);
  });

  test('the updates are counted even though a stream accepts no tag during an update', async () => {
    const { kinesis, reshard } = setUp({ shardCount: 4 });
    const statuses: string[] = [];
    const addTags = kinesis.addTagsToStream.bind(kinesis);
    kinesis.addTagsToStream = (input) => {
      statuses.push(kinesis.status);
      return addTags(input);
    };
    await reshard(32);
    expect(statuses).toEqual(['ACTIVE', 'ACTIVE', 'ACTIVE']);
    expect(lastUpdates(kinesis)).toEqual(['1970-01-01T0000Z=8', '1970-01-01T0000Z=16', '1970-01-01T0000Z=32']);
  });

  test.each(['throttled', 'failed'] as const)(
    'counts an update once if the first request is %s and sent again',
    async (fate) => {
      const fates: CallFate[] = ['answered', fate, 'answered', fate, fate];
      const { kinesis, reshard } = setUp({
        shardCount: 4,
        callFate: (call) => (call === 'updateShardCount' && fates.shift()) || 'answered',
      });
      await untilItSucceeds(() => reshard(32));
      expect(lastUpdates(kinesis).map((entry) => entry.split('=')[1])).toEqual(['8', '16', '32']);
    },
  );

  test('does not update the stream if the stream has no room for the tag that counts the updates', async () => {
    const { kinesis, reshard } = setUp({ shardCount: 4 });
    kinesis.addTagsToStream = () => Promise.reject(new Error('a stream has at most 50 tags'));
    await expect(reshard(16)).rejects.toThrow('a stream has at most 50 tags');
    expect(callsThatChange(kinesis)).toEqual([]);
  });

  test('no update is used if one split or merge is enough', async () => {
    const { kinesis, reshard } = setUp({ shardCount: 1 });
    await reshard(2);
    await reshard(1);
    expect(callsThatChange(kinesis)).toEqual(['split', 'merge']);
    expect(kinesis.tags.size).toBe(0);
  });

  test('an update beyond the limit is rejected before any change, with the time at which updates are allowed again', async () => {
    const { kinesis, reshard, clock } = setUp({ shardCount: 16 });
    for (let times = 0; times < 4; times += 1) {
      await reshard(32);
      await reshard(16);
      await clock.runUntil(clock.sleep(HOUR_MS));
    }
    const before = kinesis.calls.length;
    const error = await errorOf(reshard(100));
    expect(error).toBeInstanceOf(DailyUpdateLimitError);
    expect(error.problem).toBe(
      'Events needs 3 more update(s) of its shard count; Kinesis allows 10 in any 24 hours, and at least 8 are ' +
        'used; they are allowed again at 1970-01-02T00:01:00.000Z',
    );
    expect(callsThatChange({ calls: kinesis.calls.slice(before) } as FakeControlPlane)).toEqual([]);
    await clock.runUntil(clock.sleep(24 * HOUR_MS));
    expect(await reshard(100)).toMatchObject({ openShardCount: 100 });
  });

  /** Uses all updates of the day and removes their tag, as if other programs had sent them. */
  async function useAllUpdates({ kinesis, reshard }: ReturnType<typeof setUp>, fewer: number, more: number) {
    for (let times = 0; times < 5; times += 1) {
      await reshard(more);
      await reshard(fewer);
    }
    kinesis.tags.clear();
    kinesis.calls.length = 0;
  }

  test('if one update is left and the previous update left the stream uneven, the repair uses splits and merges and no update', async () => {
    const boundaries = uniformRanges(41).map(({ startingHashKey }) => startingHashKey);
    const { kinesis, clock } = setUp({ ranges: rangesBetween(boundaries.slice(3)) });
    const updates = [80, 40, 80, 40, 80, 40, 80, 160, 40].map((shardCount) => ({ time: 0, shardCount }));
    kinesis.tags.set(UPDATE_HISTORY_TAG, formatUpdateHistory(updates));
    const { openShardCount, plan } = await clock.runUntil(
      inspectStream(kinesis, { streamName: 'Events', shardCount: 40 }, HOUR_MS),
    );
    expect([openShardCount, plan.some(({ type }) => type === 'update')]).toEqual([39, false]);
    expect(plan.length).toBeGreaterThan(30);
  });

  test('if other programs have used all updates, splits change 4 shards to 32', async () => {
    const run = setUp({ shardCount: 4 });
    await useAllUpdates(run, 4, 8);
    expect(await run.reshard(32)).toMatchObject({ state: 'even', openShardCount: 32, skew: 1 });
    expect(callsThatChange(run.kinesis)).toEqual(['update', ...Array(28).fill('split')]);
  });
});

describe('reshardStream – a stream that cannot be resharded', () => {
  test.each([
    [{ streamMode: 'ON_DEMAND' as const }, 'on-demand mode'],
    [{ streamMode: 'ON_DEMAND' as const, distribution: 'AUTO' as const }, 'record distribution AUTO'],
  ])('rejects a stream with %j', async (options, reason) => {
    const { kinesis, reshard } = setUp(options);
    const error = await errorOf(reshard(8));
    expect(error).toMatchObject({ code: 'STREAM_NOT_RESHARDABLE', streamName: 'Events' });
    expect(error.message).toContain(reason);
    expect(callsThatChange(kinesis)).toEqual([]);
  });

  test('throws the error of Kinesis if the account has reached its shard quota', async () => {
    const { reshard } = setUp({ shardCount: 8, shardQuota: 10 });
    expect(await errorOf(reshard(16))).toMatchObject({
      name: 'LimitExceededException',
      message: expect.stringContaining('shard limit'),
    });
  });
});

describe('the shard quota of the account', () => {
  test('if the quota leaves no additional shard, each split follows a merge', async () => {
    for (const first of [quarter / 2n, (3n * quarter) / 2n]) {
      const { kinesis, reshard } = setUp({ ranges: rangesBetween([first, 2n * quarter, 3n * quarter]), shardQuota: 4 });
      await reshard(4);
      expect(ranges(kinesis)).toEqual(uniformRanges(4));
      expect(callsThatChange(kinesis)).toEqual(['split', 'merge', 'split']);
    }
  });

  test.each([[quarter], [quarter / 2n]])(
    'if the quota does not allow the target count, the stream does not change',
    async (first) => {
      const start = rangesBetween([first, quarter * 2n]);
      const { kinesis, reshard } = setUp({ ranges: start, shardQuota: 3 });
      await errorOf(reshard(4));
      expect(ranges(kinesis)).toEqual(start);
    },
  );
});

describe('a reconciliation to a shard count that is no longer current', () => {
  const TEN_SECONDS = 10_000;

  test('ends when a deployment changes the stream to another count, and each of 80 streams has the new count at the end', async () => {
    const counts = fc.integer({ min: 1, max: 20 });
    const runs = fc.record({ start: anyRanges, old: counts, to: counts, afterMs: fc.integer({ max: 90_000, min: 0 }) });
    let superseded = 0;
    await fc.assert(
      fc.asyncProperty(runs, async ({ start, old, to, afterMs }) => {
        fc.pre(old !== to);
        const { kinesis, clock, time } = setUp({ ranges: start, reshardStepMs: 3_000 });
        const repair = reshardStream(kinesis, { streamName: 'Events', shardCount: old }, time).catch((error: Error) => {
          expect(error).toBeInstanceOf(ReshardSupersededError);
          superseded += 1;
        });
        const deploy = async () => {
          await clock.sleep(afterMs);
          const startedAt = clock.now();
          const target = { streamName: 'Events', shardCount: to };
          while ((await advanceDeployment(kinesis, target, clock.now(), deployment(startedAt))).state !== 'even') {
            await clock.sleep(TEN_SECONDS);
          }
        };
        await clock.runUntil(Promise.all([repair, deploy()]));
        await clock.runUntil(clock.sleep(60_000));
        expect(kinesis.openShards).toHaveLength(to);
        expect(skewOf(ranges(kinesis))).toBeLessThanOrEqual(MAX_SKEW);
      }),
      { numRuns: 80 },
    );
    expect(superseded).toBeGreaterThan(8);
  }, 60_000);

  test('ends when CloudFormation updates the count, although CloudFormation adds no tag', async () => {
    const uneven = uniformRanges(8).map(({ startingHashKey, endingHashKey }, index) => ({
      startingHashKey: startingHashKey + (index > 0 && index < 4 ? 2n ** 122n : 0n),
      endingHashKey: endingHashKey + (index < 3 ? 2n ** 122n : 0n),
    }));
    const runs = fc.record({ to: fc.integer({ min: 11, max: 16 }), afterMs: fc.integer({ min: 1_000, max: 20_000 }) });
    let superseded = 0;
    await fc.assert(
      fc.asyncProperty(runs, async ({ to, afterMs }) => {
        const { kinesis, clock, time } = setUp({ ranges: uneven, reshardStepMs: 3_000 });
        const target = { streamName: 'Events', shardCount: 8 };
        const repair = reshardStream(kinesis, target, { ...time, yieldsToOthers: true }).catch((error: Error) => {
          expect(error.message).toBe(
            `[RESHARD_SUPERSEDED] another program has changed Events to ${to} shards, so the change to 8 shards stopped`,
          );
          superseded += 1;
        });
        const deploy = async () => {
          await clock.sleep(afterMs);
          while (kinesis.status !== 'ACTIVE') await clock.sleep(100);
          const input = { StreamName: 'Events', TargetShardCount: to, ScalingType: 'UNIFORM_SCALING' } as const;
          await kinesis.updateShardCount(input);
        };
        await clock.runUntil(Promise.all([repair, deploy()]));
        await clock.runUntil(clock.sleep(600_000));
        expect(kinesis.openShards).toHaveLength(to);
      }),
      { numRuns: 100 },
    );
    expect(superseded).toBeGreaterThan(20);
  }, 60_000);

  test.each([
    ['continues after its own splits and merges', { shardQuota: 8 }],
    ['continues after Kinesis has throttled an update', { callFate: firstCall('updateShardCount', 'throttled') }],
    ['continues after its own update to an intermediate count', {}],
  ])('%s', async (_, options) => {
    const start = rangesBetween([1n, 2n, 3n, 4n, 5n, 6n, 7n].map((place) => place * 4n));
    const { kinesis, reshard } = setUp({ ranges: start, ...options });
    await reshard(8, { yieldsToOthers: true });
    expectEven(kinesis, 8);
  });

  test.each([
    [{}, 8],
    [{ yieldsToOthers: true }, 9],
  ])(
    'with the options %j, ends with %d shards if another program has changed the stream from 7 shards to 9',
    async (options, shards) => {
      const { kinesis, clock, time } = setUp({ shardCount: 7, callFate: firstCall('updateShardCount', 'throttled') });
      const target = { streamName: 'Events', shardCount: 8 };
      const repair = reshardStream(kinesis, target, { ...time, ...options }).catch(() => {});
      await clock.runUntil(clock.sleep(1_000));
      const input = { StreamName: 'Events', TargetShardCount: 9, ScalingType: 'UNIFORM_SCALING' } as const;
      await clock.runUntil(kinesis.updateShardCount(input));
      await clock.runUntil(repair);
      expect(kinesis.openShards).toHaveLength(shards);
    },
  );

  test('can start again one hour after the deployment', async () => {
    const { kinesis, clock, reshard } = setUp({ shardCount: 4 });
    await clock.runUntil(
      advanceDeployment(kinesis, { streamName: 'Events', shardCount: 4 }, clock.now(), deployment(clock.now())),
    );
    expect((await errorOf(reshard(8))).problem).toMatch(/^a deployment changes Events to 4 shards/);
    await clock.runUntil(clock.sleep(HOUR_MS));
    expect(await reshard(8)).toMatchObject({ openShardCount: 8 });
  });
});

describe('a deployment', () => {
  test('reaches its shard count although Kinesis rejects every tag, and reports each rejection', async () => {
    const { kinesis, clock } = setUp({ shardCount: 4 });
    kinesis.addTagsToStream = ({ Tags }) => Promise.reject(new Error(`no tag ${Object.keys(Tags!)}`));
    const failures: string[] = [];
    const options = { startedAt: clock.now(), onTagFailure: ({ message }: Error) => void failures.push(message) };
    const target = { streamName: 'Events', shardCount: 16 };
    const deploy = async () => {
      while ((await advanceDeployment(kinesis, target, clock.now(), options)).state !== 'even')
        await clock.sleep(5_000);
    };
    await clock.runUntil(deploy());
    expect(kinesis.openShards).toHaveLength(16);
    const [mark, history] = [`no tag ${DEPLOYMENT_TAG}`, `no tag ${UPDATE_HISTORY_TAG}`];
    expect(failures).toEqual([mark, history, mark, history, mark]);
  });

  test('ends when a later deployment changes the stream to another count, for example a roll-back', async () => {
    const { kinesis, clock } = setUp({ shardCount: 4 });
    const advance = (shardCount: number, startedAt: number) =>
      clock.runUntil(
        advanceDeployment(kinesis, { streamName: 'Events', shardCount }, clock.now(), deployment(startedAt)),
      );
    await advance(8, 1);
    await advance(4, 2);
    expect(await errorOf(advance(8, 1))).toMatchObject({ code: 'RESHARD_SUPERSEDED', supersededBy: 4 });
    expect(await advance(4, 2)).toMatchObject({ state: 'even' });
  });
});

describe('a wrong clock', () => {
  const DAY_MS = 24 * HOUR_MS;

  test.each([-1, 1])('a deployment whose clock is wrong by %d days does not stop a later deployment', async (days) => {
    const { kinesis, clock } = setUp({ shardCount: 4 });
    const deploy = async (shardCount: number, offByMs: number) => {
      const now = () => 10 * DAY_MS + clock.now() + offByMs;
      const options = deployment(now());
      const target = { streamName: 'Events', shardCount };
      while ((await advanceDeployment(kinesis, target, now(), options)).state !== 'even') await clock.sleep(10_000);
    };
    await clock.runUntil(deploy(8, days * DAY_MS));
    await clock.runUntil(deploy(4, 0));
    expect(kinesis.openShards).toHaveLength(4);
  });
});

describe('inspectStream', () => {
  test('returns the plan and changes nothing', async () => {
    const { kinesis, clock } = setUp({ shardCount: 4 });
    const progress = await clock.runUntil(inspectStream(kinesis, { streamName: 'Events', shardCount: 9 }, 0));
    expect(progress).toMatchObject({ state: 'uneven', openShardCount: 4, skew: 1 });
    expect(progress.plan.map(describeOperation)).toEqual([
      'update the shard count to 8',
      'update the shard count to 9',
    ]);
    expect(callsThatChange(kinesis)).toEqual([]);
  });

  test.each([
    [0, ''],
    [10_001, ' (the most shards of a Kinesis stream)'],
  ])('rejects the shard count %d, which no stream can have, before it sends a request', async (shardCount, reason) => {
    const { kinesis } = setUp();
    const message = `shardCount must be a whole number from 1 to 10000${reason}, got ${shardCount}`;
    await expect(inspectStream(kinesis, { streamName: 'Events', shardCount }, 0)).rejects.toThrow(message);
    expect(kinesis.calls).toEqual([]);
  });

  test('without a count, checks only whether the shards are even', async () => {
    const { kinesis, clock } = setUp({ shardCount: 3 });
    expect(await clock.runUntil(inspectStream(kinesis, { streamName: 'Events' }, 0))).toMatchObject({ state: 'even' });
  });
});
