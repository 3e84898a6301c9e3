import type { PutRecordInput, PutRecordsClient } from '../../../../lib/core/producer/put-records-client';
import { sequentialPuts } from '../../../../lib/core/producer/put-transport';

describe('sequentialPuts', () => {
  test('names the last sequence number of the key, though a put has failed since', async () => {
    const answers = [{ ShardId: 's', SequenceNumber: '1' }, { ErrorCode: 'InternalFailure' }, {}];
    const putRecord = jest.fn(async (_: PutRecordInput) => answers.shift()!);
    const put = sequentialPuts({ putRecord } as unknown as PutRecordsClient, { StreamName: 'Events' }, { ms: 1_000 });
    for (let puts = 0; puts < 3; puts++) await put([{ PartitionKey: 'a', Data: Buffer.of() }]);
    expect(putRecord.mock.lastCall![0].SequenceNumberForOrdering).toBe('1');
  });

  test('names the sequence number of the last record of the key, and forgets the key that was written the longest ago', async () => {
    const inputs: PutRecordInput[] = [];
    const client = {
      putRecord: async (input: PutRecordInput) => {
        inputs.push(input);
        return { ShardId: 'shardId-0', SequenceNumber: `${input.PartitionKey}:${inputs.length}` };
      },
    } as unknown as PutRecordsClient;
    const put = sequentialPuts(client, { StreamName: 'Events' }, { ms: 1_000 });
    const keys = Array.from({ length: 10_000 }, (_, number) => `key-${number}`);
    // Of 10,001 keys the second is the one that was written the longest ago.
    for (const key of [...keys, 'key-0', 'one-more', 'key-1', 'key-0'])
      await put([{ PartitionKey: key, Data: Buffer.of() }]);
    expect(inputs.slice(10_000).map(({ SequenceNumberForOrdering }) => SequenceNumberForOrdering)).toEqual([
      'key-0:1',
      undefined,
      undefined,
      'key-0:10001',
    ]);
  });
});
