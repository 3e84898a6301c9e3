import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceAnswer } from '../../../../../bin/local/emulators/gated-service';
import { ShardCountGate } from '../../../../../bin/local/emulators/shard-count-gate';
import { HASH_KEY_SPACE } from '../../../../../lib/core';

const StreamName = 'events';
const accepted = (output: object): ServiceAnswer => ({ status: 200, output });

test.each(['LimitExceededException', 'ResourceInUseException'])(
  'UpdateShardCount repeats a split that kinesis-local rejects with %s',
  async (__type) => {
    const splits: unknown[] = [];
    const answers = new Map<string, () => ServiceAnswer>([
      ['ListShards', () => accepted({ Shards: [shard('0', String(HASH_KEY_SPACE - 1n))] })],
      ['SplitShard', () => (splits.length < 3 ? { status: 400, output: { __type } } : accepted({}))],
      ['DescribeStreamSummary', () => accepted({ StreamDescriptionSummary: SUMMARY })],
    ]);
    const gate = new ShardCountGate(async (operation, input) => {
      if (operation === 'SplitShard') splits.push(input);
      return answers.get(operation)!();
    });
    const input = { StreamName, TargetShardCount: 2, ScalingType: 'UNIFORM_SCALING' };
    const forward = async () => answers.get('DescribeStreamSummary')!();
    await expect(gate.pass({ operation: 'UpdateShardCount', input }, forward)).resolves.toMatchObject({ status: 200 });
    const statusOf = async () =>
      (await gate.pass({ operation: 'DescribeStreamSummary', input }, forward)).output.StreamDescriptionSummary
        .StreamStatus;
    expect(await statusOf()).toBe('UPDATING');
    while ((await statusOf()) === 'UPDATING') await sleep(2);
    const split = { StreamName, ShardToSplit: ID, NewStartingHashKey: String(HASH_KEY_SPACE / 2n) };
    expect(splits).toEqual([split, split, split]);
  },
);

const ID = 'shardId-000000000000';
const SUMMARY = {
  StreamARN: 'arn',
  StreamStatus: 'ACTIVE',
  StreamModeDetails: { StreamMode: 'PROVISIONED' },
  OpenShardCount: 1,
};

function shard(StartingHashKey: string, EndingHashKey: string): object {
  return {
    ShardId: ID,
    HashKeyRange: { StartingHashKey, EndingHashKey },
    SequenceNumberRange: { StartingSequenceNumber: '1' },
  };
}
