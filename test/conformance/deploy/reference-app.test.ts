import { readFileSync, rmSync } from 'node:fs';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { Kinesis } from '@aws-sdk/client-kinesis';
import { Lambda } from '@aws-sdk/client-lambda';
import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { shardAttributes } from '../../../lib/core';
import { INDEXES } from '../../../lib/core/contract/function-environment';
import { describeWhere } from '../../support/describe-where';
import { PYTHON_NEEDED } from '../../support/fetched';
import { synthesizeReferenceApp } from '../../support/reference-app';
import { Account, CREDENTIALS, fetchEmulator, REGION } from './account';

/** Deploys, invokes and destroys the reference app as README.md describes it, with the real CDK CLI, on moto. */

const MINUTES = 60_000;

/** The payloads of the commands in README.md: for the producer, and for the query function. */
const [PRODUCE, QUERY] = [...readFileSync('README.md', 'utf8').matchAll(/--payload '(\{.*?\})'\n/gs)].map(
  ([, payload]) => JSON.parse(payload!),
);

const describeIf = describeWhere(fetchEmulator(), PYTHON_NEEDED);

describeIf('the reference app', () => {
  let account: Account;
  let app: string;
  let lambda: Lambda;
  let kinesis: Kinesis;
  let documents: DynamoDBDocument;
  let outputs: Record<string, string>;

  beforeAll(async () => {
    app = synthesizeReferenceApp();
    account = await Account.open();
    const options = { region: REGION, credentials: CREDENTIALS, endpoint: account.endpoint };
    lambda = new Lambda(options);
    kinesis = new Kinesis({ ...options, requestHandler: new NodeHttpHandler() });
    documents = DynamoDBDocument.from(new DynamoDB(options));
  }, 3 * MINUTES);

  afterAll(async () => {
    for (const client of [lambda, kinesis, documents]) client?.destroy();
    await account?.close();
    rmSync(app, { recursive: true, force: true });
  }, MINUTES);

  const cdk = async (...args: string[]) => {
    const { succeeded, printed } = await account.cdk(...args);
    if (!succeeded) throw new Error(printed);
    return printed;
  };

  const invoke = async (FunctionName: string, event: object) => {
    const { Payload, FunctionError } = await lambda.invoke({ FunctionName, Payload: JSON.stringify(event) });
    const response = JSON.parse(Payload!.transformToString());
    if (FunctionError !== undefined) throw new Error(JSON.stringify(response));
    return response;
  };

  test(
    'cdk deploy creates the stack, and prints the outputs that README.md names',
    async () => {
      await cdk('bootstrap', `aws://123456789012/${REGION}`);
      const printed = await cdk('deploy', '--app', app, '--require-approval', 'never', '--method', 'change-set');
      outputs = Object.fromEntries(
        [...printed.matchAll(/^EvenShards\.(\w+) = (\S+)$/gm)].map(([, key, value]) => [key!, value!]),
      );
      expect(Object.keys(outputs)).toEqual(expect.arrayContaining(['ProducerFunctionName', 'QueryFunctionName']));
    },
    5 * MINUTES,
  );

  test('the producer stores the records in README.md, and the consumer puts the repository and its commit into the table', async () => {
    const { records, failedRecordCount } = await invoke(outputs.ProducerFunctionName!, PRODUCE);
    expect(failedRecordCount).toBe(0);
    const { shardId } = records[0];
    const { ShardIterator } = await kinesis.getShardIterator({
      StreamName: outputs.StreamName!,
      ShardId: shardId,
      ShardIteratorType: 'TRIM_HORIZON',
    });
    const { Records = [] } = await kinesis.getRecords({ ShardIterator });
    const { EventSourceMappings = [] } = await lambda.listEventSourceMappings({});
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
    expect(await invoke(mapping!.FunctionArn!, { Records: event })).toEqual({ batchItemFailures: [] });
    const { Items } = await documents.scan({ TableName: outputs.RepositoriesTableName! });
    expect(Items).toEqual([expect.objectContaining({ repository: 'org-01/repo-1', commits: ['c0ab1e5c'] })]);
  });

  test('the query in README.md returns the jobs of the status, the newest job first', async () => {
    const { Configuration } = await lambda.getFunction({ FunctionName: outputs.QueryFunctionName! });
    const { byStatus } = JSON.parse(Configuration!.Environment!.Variables![INDEXES]!);
    for (const number of [1, 2, 3]) {
      const job = { jobId: `job-${number}`, status: QUERY.value, createdAt: `2026-01-0${number}T00:00:00Z` };
      await documents.put({ TableName: outputs.TableName!, Item: { ...job, ...shardAttributes(byStatus, job) } });
    }
    const { items } = await invoke(outputs.QueryFunctionName!, QUERY);
    expect(items.map(({ jobId }: { jobId: string }) => jobId)).toEqual(['job-3', 'job-2', 'job-1']);
  });

  test(
    'cdk destroy deletes the functions, and the stream and the tables stay, as README.md says',
    async () => {
      await cdk('destroy', '--app', app, '--force');
      const { StreamNames } = await kinesis.listStreams({});
      expect(StreamNames).toEqual([outputs.StreamName]);
      const counts = [outputs.TableName, outputs.RepositoriesTableName].map(async (TableName) => {
        const { Count } = await documents.scan({ TableName, Select: 'COUNT' });
        return Count;
      });
      expect(await Promise.all(counts)).toEqual([3, 1]);
      const { Functions } = await lambda.listFunctions({});
      expect(Functions).toEqual([]);
    },
    5 * MINUTES,
  );
});
