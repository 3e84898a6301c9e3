import { hashPartitionKey } from '../../lib/core/key-space/hash-key-space';
import { shardIndexOf } from '../../lib/core/key-space/uniform-ranges';
import type { LocalStack } from '../run-local';
import { openShards } from './open-shards';
import { SampleFailedError } from './sample-error';
import type { SampleProducer } from './sample-targets';
import { textTable } from './text-table';

interface ProducerAnswer {
  records: { shardId: string; sequenceNumber: string }[];
  failedRecordCount: number;
}

/**
 * The example of "Kinesis Hash Key Space Partitioning": the partition keys 1 to 14 through the producer, and the shard
 * each of them landed on. MD5 does not spread so few keys evenly.
 */
export async function keysOverShards(
  stack: LocalStack,
  { functionPath, streamName }: SampleProducer,
  print: (line: string) => void,
): Promise<void> {
  const keys = Array.from({ length: 14 }, (_, index) => String(index + 1));
  const records = keys.map((partitionKey) => ({ partitionKey, data: { event: partitionKey } }));
  const answer = (await stack.invoke(functionPath, { records })) as ProducerAnswer;
  if (answer.failedRecordCount > 0)
    throw new SampleFailedError(`${answer.failedRecordCount} records were not delivered`);

  const shards = await openShards(stack, streamName);
  const ranges = shards.map(({ range }) => range);
  keys.forEach((key, index) => {
    const expected = shards[shardIndexOf(hashPartitionKey(key), ranges)]!.shardId;
    const { shardId } = answer.records[index]!;
    if (shardId !== expected) throw new SampleFailedError(`key ${key} landed on ${shardId} instead of ${expected}`);
  });

  print('');
  print(`3. records with the partition keys 1 to ${keys.length}, by shard of ${streamName}`);
  const rows = shards.map(({ shardId }) => {
    const landed = keys.filter((_, index) => answer.records[index]!.shardId === shardId);
    return [shardId, landed.length, landed.join(' ')];
  });
  for (const line of textTable(['shard', 'records', 'partition keys'], rows)) print(` ${line}`);
}
