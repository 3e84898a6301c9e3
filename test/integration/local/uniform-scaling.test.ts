import { Kinesis, waitUntilStreamExists } from '@aws-sdk/client-kinesis';
import { LOCAL_REGION } from '../../../bin/local/assembly/emulated-types';
import { startKinesisEmulator } from '../../../bin/local/emulators/kinesis-emulator';
import { LOCAL_CREDENTIALS } from '../../../bin/local/functions/lambda-environment';
import { HASH_KEY_SPACE } from '../../../lib/core';
import { listOpenShards } from '../../../lib/core/resharding/open-shards';

describe('UpdateShardCount in a local run', () => {
  let emulator: Awaited<ReturnType<typeof startKinesisEmulator>>;
  let kinesis: Kinesis;
  beforeAll(async () => {
    emulator = await startKinesisEmulator();
    kinesis = new Kinesis({ endpoint: emulator.endpoint, region: LOCAL_REGION, credentials: LOCAL_CREDENTIALS });
  }, 60_000);
  afterAll(async () => {
    kinesis.destroy();
    await emulator.stop();
  });

  const active = (StreamName: string) =>
    waitUntilStreamExists({ client: kinesis, maxWaitTime: 30, minDelay: 0.01, maxDelay: 0.05 }, { StreamName });
  const create = async (StreamName: string, ShardCount: number) => {
    await kinesis.createStream({ StreamName, ShardCount });
    await active(StreamName);
  };
  const update = (StreamName: string, TargetShardCount: number) =>
    kinesis.updateShardCount({ StreamName, TargetShardCount, ScalingType: 'UNIFORM_SCALING' });

  test.each([
    [1, 2],
    [4, 6],
    [4, 3],
    [6, 5],
  ])('makes equal shards of the %d equal shards of a new stream: %d', async (from, to) => {
    const StreamName = `from-${from}-to-${to}`;
    await create(StreamName, from);
    const created = await listOpenShards(kinesis as never, StreamName);
    expect(created.map(({ startingHashKey }) => startingHashKey)).toEqual(
      created.map((_, index) => BigInt(index) * (HASH_KEY_SPACE / BigInt(from))),
    );
    expect(await update(StreamName, to)).toMatchObject({ CurrentShardCount: from, TargetShardCount: to });
    await expect(update(StreamName, to)).rejects.toMatchObject({ name: 'ResourceInUseException' });
    await active(StreamName);
    const open = await listOpenShards(kinesis as never, StreamName);
    const ends = open.map(({ endingHashKey }) => ((Number(endingHashKey) / Number(HASH_KEY_SPACE)) * to).toFixed(6));
    expect(ends).toEqual(open.map((_, index) => (index + 1).toFixed(6)));
    if (from === 1) expect(open[1]!.startingHashKey).toBe(2n ** 127n);
    if (to === 3) expect(open.map(({ shardId }) => Number(shardId.slice(-2)))).toEqual([6, 9, 10]);
  });

  test('rejects more than double, less than half, and more than ten updates in 24 hours', async () => {
    await create('limits', 3);
    for (const count of [7, 1, 0]) {
      await expect(update('limits', count)).rejects.toMatchObject({ name: 'InvalidArgumentException' });
    }
    for (let count = 0; count < 10; count += 1) {
      await update('limits', 3);
      await active('limits');
    }
    await expect(update('limits', 3)).rejects.toMatchObject({ name: 'LimitExceededException' });
    await expect(update('missing', 2)).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
  });
});
