import { readFileSync } from 'node:fs';
import { shardAttributes } from '../../../lib/core';
import { INDEXES } from '../../../lib/core/contract/function-environment';
import { describeWhere } from '../../support/describe-where';
import { PYTHON_NEEDED } from '../../support/fetched';
import { synthesizeReferenceApp } from '../../support/reference-app';
import { accountForTests, DEPLOY_OPTIONS, fetchEmulator, MINUTES } from './account';

/** Deploys, invokes and destroys the reference app as README.md describes it, with the real CDK CLI, on moto. */

/** The payloads of the commands in README.md: for the producer, and for the query function. */
const [PRODUCE, QUERY] = [...readFileSync('README.md', 'utf8').matchAll(/--payload '(\{.*?\})'\n/gs)].map(
  ([, payload]) => JSON.parse(payload!),
);

const describeIf = describeWhere(fetchEmulator(), PYTHON_NEEDED);

describeIf('the reference app', () => {
  const account = accountForTests();
  let app: string;
  let outputs: Record<string, string>;

  beforeAll(() => {
    app = synthesizeReferenceApp();
  }, 3 * MINUTES);

  test(
    'cdk deploy creates the stack, and prints the outputs that README.md names',
    async () => {
      const printed = await account.succeed('deploy', '--app', app, ...DEPLOY_OPTIONS);
      outputs = Object.fromEntries(
        [...printed.matchAll(/^EvenShards\.(\w+) = (\S+)$/gm)].map(([, key, value]) => [key!, value!]),
      );
      expect(Object.keys(outputs)).toEqual(expect.arrayContaining(['ProducerFunctionName', 'QueryFunctionName']));
    },
    5 * MINUTES,
  );

  test('the producer stores the records in README.md, and the consumer puts the repository and its commit into the table', async () => {
    const { records, failedRecordCount } = await account.invoke(outputs.ProducerFunctionName!, PRODUCE);
    expect(failedRecordCount).toBe(0);
    const { shardId } = records[0];
    const { ShardIterator } = await account.kinesis.getShardIterator({
      StreamName: outputs.StreamName!,
      ShardId: shardId,
      ShardIteratorType: 'TRIM_HORIZON',
    });
    const { Records = [] } = await account.kinesis.getRecords({ ShardIterator });
    const { EventSourceMappings = [] } = await account.lambda.listEventSourceMappings({});
    const [mapping] = EventSourceMappings;
    const event = Records.map(({ PartitionKey, SequenceNumber, Data }) => ({
      eventID: `${shardId}:${SequenceNumber}`,
      eventSource: 'aws:kinesis',
      eventSourceARN: mapping!.EventSourceArn,
      kinesis: {
        partitionKey: PartitionKey,
        sequenceNumber: SequenceNumber,
        data: Buffer.from(Data!).toString('base64'),
        approximateArrivalTimestamp: 1_700_000_000,
      },
    }));
    expect(await account.invoke(mapping!.FunctionArn!, { Records: event })).toEqual({ batchItemFailures: [] });
    const { Items } = await account.documents.scan({ TableName: outputs.RepositoriesTableName! });
    expect(Items).toEqual([expect.objectContaining({ repository: 'org-01/repo-1', commits: ['c0ab1e5c'] })]);
  });

  test('the query in README.md returns the jobs of the status, the newest job first', async () => {
    const { Configuration } = await account.lambda.getFunction({ FunctionName: outputs.QueryFunctionName! });
    const { byStatus } = JSON.parse(Configuration!.Environment!.Variables![INDEXES]!);
    for (const number of [1, 2, 3]) {
      const job = { jobId: `job-${number}`, status: QUERY.value, createdAt: `2026-01-0${number}T00:00:00Z` };
      await account.documents.put({
        TableName: outputs.TableName!,
        Item: { ...job, ...shardAttributes(byStatus, job) },
      });
    }
    const { items } = await account.invoke(outputs.QueryFunctionName!, QUERY);
    expect(items.map(({ jobId }: { jobId: string }) => jobId)).toEqual(['job-3', 'job-2', 'job-1']);
  });

  test(
    'cdk destroy deletes the functions, and the stream and the tables stay, as README.md says',
    async () => {
      await account.succeed('destroy', '--app', app, '--force');
      const { StreamNames } = await account.kinesis.listStreams({});
      expect(StreamNames).toEqual([outputs.StreamName]);
      const counts = [outputs.TableName, outputs.RepositoriesTableName].map(async (TableName) => {
        const { Count } = await account.documents.scan({ TableName, Select: 'COUNT' });
        return Count;
      });
      expect(await Promise.all(counts)).toEqual([3, 1]);
      const { Functions } = await account.lambda.listFunctions({});
      expect(Functions).toEqual([]);
    },
    5 * MINUTES,
  );
});
