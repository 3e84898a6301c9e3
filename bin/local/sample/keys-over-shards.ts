import { listOpenShards, type OpenShard } from '../../../lib/core/resharding/open-shards';
import { shardIndexOf } from '../../../lib/core/stream-format/hash-key-ranges';
import { hashPartitionKey } from '../../../lib/core/stream-format/hash-key-space';
import { SampleFailedError } from '../../invalid-input-error';
import { textTable } from '../../text-table';
import type { KnownProducer } from '../producers-and-indexes';
import type { LocalStack } from '../run-local';
import { failedRecordsText, type RecordAnswer } from './failed-records';

interface ProducerAnswer {
  records: RecordAnswer[];
  failedRecordCount: number;
}

const ACCOUNTS = Array.from({ length: 14 }, (_, index) => String(index + 1));

/**
 * The example of "Kinesis Hash Key Space Partitioning". Sends records of 14 accounts through the producer, and prints
 * the shard of each account. MD5 does not distribute 14 keys evenly, but the hash keys of a registry do.
 */
export async function keysOverShards(
  stack: LocalStack,
  { functionPath, streamName, hasRegistry }: KnownProducer,
  print: (line: string) => void,
): Promise<void> {
  const landedOn = async (owner?: (account: string) => string): Promise<string[]> => {
    const records = ACCOUNTS.map((account) => ({
      partitionKey: account,
      data: { event: account },
      ...(owner && { hashKeyOwner: owner(account) }),
    }));
    const answer = (await stack.invoke(functionPath, { records })) as ProducerAnswer;
    if (answer.failedRecordCount > 0) throw new SampleFailedError(failedRecordsText('records', answer.records));
    return answer.records.map(({ shardId }) => shardId!);
  };

  const shards = await listOpenShards(stack.clients.kinesis, streamName);
  const byMd5 = await landedOn();
  checkMd5(shards, byMd5);
  const byRegistry = hasRegistry ? await landedOn((account) => `account-${account}`) : undefined;
  if (byRegistry !== undefined) checkEven(shards, byRegistry);

  print('');
  print(`${ACCOUNTS.length} accounts, named 1 to ${ACCOUNTS.length}, over the shards of ${streamName}`);
  const columns = [byMd5, ...(byRegistry === undefined ? [] : [byRegistry])];
  const [most, ...evenly] = columns.map((column) =>
    Math.max(...shards.map(({ shardId }) => column.filter((each) => each === shardId).length)),
  );
  print(
    `   MD5 puts ${most} accounts on one shard${evenly.map((count) => `, the registry at most ${count}`).join('')}:`,
  );
  const rows = shards.map(({ shardId }) => {
    const accounts = columns.map((column) => ACCOUNTS.filter((_, index) => column[index] === shardId));
    return [shardId, ...accounts.map((landed) => `${landed.length}: ${landed.join(' ')}`)];
  });
  const header = ['shard', 'accounts by MD5', 'accounts by the registry'].slice(0, 1 + columns.length);
  for (const line of textTable(header, rows)) print(` ${line}`);
}

function checkMd5(shards: readonly OpenShard[], landed: readonly string[]): void {
  ACCOUNTS.forEach((account, index) => {
    const expected = shards[shardIndexOf(hashPartitionKey(account), shards)]!.shardId;
    if (landed[index] === expected) return;
    throw new SampleFailedError(`account ${account} is in ${landed[index]} instead of ${expected}`);
  });
}

function checkEven(shards: readonly OpenShard[], landed: readonly string[]): void {
  const most = Math.ceil(landed.length / shards.length);
  for (const { shardId } of shards) {
    const count = landed.filter((other) => other === shardId).length;
    if (count > most) throw new SampleFailedError(`${shardId} has ${count} accounts, but must have at most ${most}`);
  }
}
