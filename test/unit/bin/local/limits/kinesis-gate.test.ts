import type { Forward } from '../../../../../bin/local/emulators/gated-service';
import { KinesisGate } from '../../../../../bin/local/limits/kinesis-gate';
import { Traffic } from '../../../../../bin/local/limits/traffic';
import { KinesisLimits } from '../../../../../lib/testing/kinesis-limits';

test('PutRecords throttles each record by the limits of its shard, and stores the later records that fit', async () => {
  const shards = {
    shardOf: async (_: string, { PartitionKey }: { PartitionKey: string }) => PartitionKey,
    forget() {},
  };
  const gate = new KinesisGate({
    shards: shards as never,
    limits: new KinesisLimits({ now: () => 0 }),
    traffic: new Traffic(),
  });
  const forward: Forward = async (input) => {
    const { Records } = input as { Records: { PartitionKey: string }[] };
    const output = { Records: Records.map(({ PartitionKey }) => ({ ShardId: PartitionKey, SequenceNumber: '1' })) };
    return { status: 200, output };
  };
  const record = (PartitionKey: string, bytes: number) => ({
    PartitionKey,
    Data: Buffer.alloc(bytes).toString('base64'),
  });
  const Records = [record('a', 600_000), record('a', 600_000), record('b', 600_000), record('a', 300_000)];
  const { output } = await gate.pass({ operation: 'PutRecords', input: { StreamName: 'events', Records } }, forward);
  expect(output.FailedRecordCount).toBe(1);
  expect(
    output.Records.map((result: { ErrorCode?: string; ShardId?: string }) => result.ErrorCode ?? result.ShardId),
  ).toEqual(['a', 'ProvisionedThroughputExceededException', 'b', 'a']);
});
