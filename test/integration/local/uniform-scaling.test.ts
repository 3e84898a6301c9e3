import { HASH_KEY_SPACE } from '../../../lib/core';
import { listOpenShards } from '../../../lib/core/resharding/open-shards';
import { waitUntilActive } from '../../support/active-stream';
import { kinesisForTests } from '../../support/kinesis-local';

describe('UpdateShardCount in a local run', () => {
  const { kinesis, createStream } = kinesisForTests();
  const update = (StreamName: string, TargetShardCount: number) =>
    kinesis.updateShardCount({ StreamName, TargetShardCount, ScalingType: 'UNIFORM_SCALING' });

  test.each([
    [1, 2],
    [4, 6],
    [4, 3],
    [6, 5],
  ])('makes equal shards of the %d equal shards of a new stream: %d', async (from, to) => {
    const StreamName = `from-${from}-to-${to}`;
    await createStream(StreamName, from);
    const created = await listOpenShards(kinesis, StreamName);
    expect(created.map(({ startingHashKey }) => startingHashKey)).toEqual(
      created.map((_, index) => BigInt(index) * (HASH_KEY_SPACE / BigInt(from))),
    );
    expect(await update(StreamName, to)).toMatchObject({ CurrentShardCount: from, TargetShardCount: to });
    await expect(update(StreamName, to)).rejects.toMatchObject({ name: 'ResourceInUseException' });
    await waitUntilActive(kinesis, StreamName);
    const open = await listOpenShards(kinesis, StreamName);
    const ends = open.map(({ endingHashKey }) => ((Number(endingHashKey) / Number(HASH_KEY_SPACE)) * to).toFixed(6));
    expect(ends).toEqual(open.map((_, index) => (index + 1).toFixed(6)));
    if (from === 1) expect(open[1]!.startingHashKey).toBe(2n ** 127n);
    if (to === 3) expect(open.map(({ shardId }) => Number(shardId.slice(-2)))).toEqual([6, 9, 10]);
  });

  test('rejects more than double, less than half, and more than ten updates in 24 hours', async () => {
    await createStream('limits', 3);
    for (const count of [7, 1, 0]) {
      await expect(update('limits', count)).rejects.toMatchObject({ name: 'InvalidArgumentException' });
    }
    for (let count = 0; count < 10; count += 1) {
      await update('limits', 3);
      await waitUntilActive(kinesis, 'limits');
    }
    await expect(update('limits', 3)).rejects.toMatchObject({ name: 'LimitExceededException' });
    await expect(update('missing', 2)).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
  });
});
