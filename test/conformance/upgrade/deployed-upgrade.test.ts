import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CloudFormation } from '@aws-sdk/client-cloudformation';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { Kinesis } from '@aws-sdk/client-kinesis';
import { Lambda } from '@aws-sdk/client-lambda';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { describeWhere } from '../../support/describe-where';
import { PYTHON_NEEDED } from '../../support/fetched';
import { Account, CREDENTIALS, fetchEmulator, REGION } from '../deploy/account';
import { synthesizedApp } from './synthesized';

/**
 * Deploys the reference app of the last release, updates the stack with the app of the working tree, and updates it back,
 * with the CDK CLI and moto in place of AWS: `npm run conformance upgrade deployed`. moto enforces no permissions;
 * `templates.test.ts` compares the permissions.
 */

const LAST = process.env.LAST_RELEASE!;
const CURRENT = process.env.CURRENT_PACKAGE!;
const MINUTES = 60_000;
const STACK = 'EvenShards';

const describeIf = describeWhere(fetchEmulator(), PYTHON_NEEDED);

describeIf('a deployed reference app', () => {
  let account: Account;
  let folder: string;
  let cloudFormation: CloudFormation;
  let dynamodb: DynamoDB;
  let kinesis: Kinesis;
  let lambda: Lambda;

  beforeAll(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'deployed-upgrade-')));
    account = await Account.open();
    const options = { region: REGION, credentials: CREDENTIALS, endpoint: account.endpoint };
    cloudFormation = new CloudFormation(options);
    dynamodb = new DynamoDB(options);
    kinesis = new Kinesis({ ...options, requestHandler: new NodeHttpHandler() });
    lambda = new Lambda(options);
    const { succeeded, printed } = await account.cdk('bootstrap', `aws://123456789012/${REGION}`);
    if (!succeeded) throw new Error(printed);
  }, 2 * MINUTES);

  afterAll(async () => {
    for (const client of [cloudFormation, dynamodb, kinesis, lambda]) client?.destroy();
    await account?.close();
    rmSync(folder, { recursive: true });
  });

  const deploy = async (assembly: string) => {
    const options = ['--require-approval', 'never', '--method', 'change-set'];
    const { succeeded, printed } = await account.cdk('deploy', '--app', assembly, ...options);
    if (!succeeded) throw new Error(printed);
    const { Stacks = [] } = await cloudFormation.describeStacks({ StackName: STACK });
    const { Outputs = [] } = Stacks[0]!;
    return Object.fromEntries(Outputs.map(({ OutputKey, OutputValue }) => [OutputKey!, OutputValue!]));
  };

  const invoke = async (name: string, event: object) => {
    const { Payload, FunctionError } = await lambda.invoke({ FunctionName: name, Payload: JSON.stringify(event) });
    const response = JSON.parse(Payload!.transformToString());
    if (FunctionError !== undefined) throw new Error(JSON.stringify(response));
    return response;
  };

  const recordsOf = async (StreamName: string) => {
    const { Shards = [] } = await kinesis.listShards({ StreamName });
    const pages = Shards.map(async ({ ShardId }) => {
      const position = { StreamName, ShardId, ShardIteratorType: 'TRIM_HORIZON' } as const;
      const { ShardIterator } = await kinesis.getShardIterator(position);
      const { Records = [] } = await kinesis.getRecords({ ShardIterator });
      return Records.map(({ Data }) => Buffer.from(Data!).toString());
    });
    return (await Promise.all(pages)).flat().sort();
  };

  /** Writes with the deployed producer, and reads the records of all versions. */
  const use = async (version: string, outputs: Record<string, string>) => {
    const response = await invoke(outputs.ProducerFunctionName!, {
      records: [{ partitionKey: 'account-1', hashKeyOwner: 'account-1', data: version }],
    });
    expect(response).toMatchObject({ failedRecordCount: 0 });
    const page = await invoke(outputs.QueryFunctionName!, { index: 'byStatus', value: 'pending' });
    expect(page).toMatchObject({ items: [] });
    return recordsOf(outputs.StreamName!);
  };

  test(
    'keeps its resources and its records in an upgrade and in a roll-back',
    async () => {
      const versions = { last: LAST, current: CURRENT };
      const apps = Object.entries(versions).map(([name, each]) => synthesizedApp(each, join(folder, name)));
      const outputs = await deploy(apps[0]!);
      expect(await use('last', outputs)).toEqual(['last']);
      expect(await deploy(apps[1]!)).toMatchObject(outputs);
      expect(await use('current', outputs)).toEqual(['current', 'last']);
      expect(await deploy(apps[0]!)).toEqual(outputs);
      expect(await use('roll-back', outputs)).toEqual(['current', 'last', 'roll-back']);
      const { Table } = await dynamodb.describeTable({ TableName: outputs.TableName! });
      expect(Table!.GlobalSecondaryIndexes!.map(({ IndexName }) => IndexName).sort()).toEqual(['byStatus', 'byTime']);
    },
    5 * MINUTES,
  );
});
