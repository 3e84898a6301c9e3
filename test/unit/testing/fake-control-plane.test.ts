import type { Shard } from '@aws-sdk/client-kinesis';
import fc from 'fast-check';
import { type HashKeyRange, uniformRanges } from '../../../lib/core';
import { FakeControlPlane, type FakeControlPlaneOptions } from '../../../lib/testing/fake-control-plane';
import { VirtualClock } from '../../../lib/testing/virtual-clock';

const HOUR_MS = 60 * 60 * 1_000;

function setUp(options: Partial<FakeControlPlaneOptions> = {}) {
  const clock = new VirtualClock();
  const kinesis = new FakeControlPlane({ clock, ...options });
  const update = (TargetShardCount: number) =>
    clock.runUntil(
      kinesis.updateShardCount({ StreamName: 'Events', TargetShardCount, ScalingType: 'UNIFORM_SCALING' }),
    );
  return { clock, kinesis, update };
}

/** Rounding moves the ends of shards by some hash keys. */
const nearly = ({ range }: { range: HashKeyRange }) => (range.endingHashKey + 2n ** 19n) >> 20n;

describe('FakeControlPlane', () => {
  test('has uniform shards after any update of the shard count', async () => {
    const counts = fc.integer({ min: 1, max: 40 }).chain((from) =>
      fc.record({
        from: fc.constant(from),
        to: fc.integer({ min: Math.ceil(from / 2), max: 2 * from }),
        splits: fc.array(fc.nat(), { maxLength: 3 }),
      }),
    );
    await fc.assert(
      fc.asyncProperty(counts, async ({ from, to, splits }) => {
        const { clock, kinesis, update } = setUp({ shardCount: from });
        for (const split of splits) {
          const { shardId, range } = kinesis.openShards[split % kinesis.openShards.length]!;
          const NewStartingHashKey = String(range.startingHashKey + (range.endingHashKey - range.startingHashKey) / 3n);
          await clock.runUntil(kinesis.splitShard({ ShardToSplit: shardId, NewStartingHashKey }));
          await clock.runOut();
        }
        fc.pre(to >= kinesis.openShards.length / 2);
        await update(to);
        await clock.runOut();
        expect(kinesis.openShards.map(nearly)).toEqual(uniformRanges(to).map((range) => nearly({ range })));
      }),
    );
  });

  test('is UPDATING until the last step of a change is done, and rejects other changes until then', async () => {
    const { clock, kinesis, update } = setUp({ shardCount: 2, reshardStepMs: 5_000 });
    expect(await update(4)).toMatchObject({ CurrentShardCount: 2, TargetShardCount: 4 });
    expect(kinesis.status).toBe('UPDATING');
    await expect(update(4)).rejects.toMatchObject({ name: 'ResourceInUseException' });
    const merge = { ShardToMerge: 'shardId-000000000000', AdjacentShardToMerge: 'shardId-000000000001' };
    await expect(clock.runUntil(kinesis.mergeShards(merge))).rejects.toMatchObject({ name: 'ResourceInUseException' });
    await clock.runOut();
    expect(kinesis.status).toBe('ACTIVE');
    expect(kinesis.openShards).toHaveLength(4);
  });

  test.each([
    [4, 9, 'InvalidArgumentException'],
    [5, 2, 'InvalidArgumentException'],
    [6_000, 10_001, 'LimitExceededException'],
    [40, 51, 'LimitExceededException'],
  ])('rejects an update from %i to %i shards: %s', async (from, to, name) => {
    const { update } = setUp({ shardCount: from, ...(from === 40 && { shardQuota: 50 }) });
    await expect(update(to)).rejects.toMatchObject({ name });
  });

  test('accepts at most ten updates in 24 hours', async () => {
    const { clock, update } = setUp({ shardCount: 4 });
    for (let count = 0; count < 10; count++) {
      await update(count % 2 === 0 ? 5 : 4);
      await clock.runUntil(clock.sleep(2 * HOUR_MS));
    }
    await expect(update(5)).rejects.toMatchObject({ name: 'LimitExceededException' });
    await clock.runUntil(clock.sleep(4 * HOUR_MS));
    await expect(update(5)).resolves.toMatchObject({ TargetShardCount: 5 });
  });

  test('rejects updates of on-demand streams', async () => {
    const { update } = setUp({ shardCount: 4, streamMode: 'ON_DEMAND' });
    await expect(update(5)).rejects.toMatchObject({ name: 'ValidationException' });
  });

  test('listShards returns pages with tokens that expire, and returns only open shards with AT_LATEST', async () => {
    const { clock, kinesis, update } = setUp({ shardCount: 5 });
    await update(6);
    await clock.runOut();
    const pages: Shard[][] = [];
    for (let NextToken: string | undefined, first = true; first || NextToken !== undefined; first = false) {
      const input = first
        ? { StreamName: 'Events', MaxResults: 2, ShardFilter: { Type: 'AT_LATEST' as const } }
        : { NextToken, MaxResults: 2 };
      const answer = await clock.runUntil(kinesis.listShards(input));
      pages.push(answer.Shards!);
      NextToken = answer.NextToken;
    }
    expect(pages.map(({ length }) => length)).toEqual([2, 2, 2]);
    const open = kinesis.openShards.map(({ shardId }) => shardId).sort();
    expect(pages.flat().map(({ ShardId }) => ShardId)).toEqual(open);
    const { NextToken } = await clock.runUntil(kinesis.listShards({ StreamName: 'Events', MaxResults: 1 }));
    const both = clock.runUntil(kinesis.listShards({ StreamName: 'Events', NextToken }));
    await expect(both).rejects.toMatchObject({ name: 'InvalidArgumentException' });
    await clock.runUntil(clock.sleep(301_000));
    const late = clock.runUntil(kinesis.listShards({ NextToken }));
    await expect(late).rejects.toMatchObject({ name: 'ExpiredNextTokenException' });
  });

  test.each([
    ['failed', 'InternalFailure', 'ACTIVE'],
    ['throttled', 'LimitExceededException', 'ACTIVE'],
    ['answer lost', 'TimeoutError', 'UPDATING'],
  ] as const)('with the fate "%s", a call fails with %s, and the stream is %s', async (fate, name, status) => {
    const { kinesis, update } = setUp({ shardCount: 2, callFate: () => fate });
    await expect(update(4)).rejects.toMatchObject({ name });
    expect(kinesis.status).toBe(status);
    expect(kinesis.calls).toEqual(['updateShardCount']);
  });
});
