import { join } from 'node:path';
import { describeWhere } from '../../support/describe-where';
import { PYTHON_NEEDED } from '../../support/fetched';
import { accountForTests, fetchEmulator, MINUTES } from '../deploy/account';
import { synthesizedApp } from './synthesized';

/**
 * Deploys the reference app of the last release, updates the stack with the app of the working tree, and updates it back,
 * with the CDK CLI and moto in place of AWS: `npm run conformance upgrade deployed`. moto enforces no permissions;
 * `templates.test.ts` compares the permissions.
 */

const LAST = process.env.LAST_RELEASE!;
const CURRENT = process.env.CURRENT_PACKAGE!;
const STACK = 'EvenShards';

const describeIf = describeWhere(fetchEmulator(), PYTHON_NEEDED);

describeIf('a deployed reference app', () => {
  const account = accountForTests();

  const recordsOf = async (StreamName: string) => {
    const { Shards = [] } = await account.kinesis.listShards({ StreamName });
    const pages = Shards.map(async ({ ShardId }) => {
      const position = { StreamName, ShardId, ShardIteratorType: 'TRIM_HORIZON' } as const;
      const { ShardIterator } = await account.kinesis.getShardIterator(position);
      const { Records = [] } = await account.kinesis.getRecords({ ShardIterator });
      return Records.map(({ Data }) => Buffer.from(Data!).toString());
    });
    return (await Promise.all(pages)).flat().sort();
  };

  /** Writes with the deployed producer, and reads the records of all versions. */
  const use = async (version: string, outputs: Record<string, string>) => {
    const response = await account.invoke(outputs.ProducerFunctionName!, {
      records: [{ partitionKey: 'account-1', hashKeyOwner: 'account-1', data: version }],
    });
    expect(response).toMatchObject({ failedRecordCount: 0 });
    const page = await account.invoke(outputs.QueryFunctionName!, { index: 'byStatus', value: 'pending' });
    expect(page).toMatchObject({ items: [] });
    return recordsOf(outputs.StreamName!);
  };

  test(
    'keeps its resources and its records in an upgrade and in a roll-back',
    async () => {
      const versions = { last: LAST, current: CURRENT };
      const apps = Object.entries(versions).map(([name, each]) => synthesizedApp(each, join(account.folder, name)));
      const outputs = await account.deploy(STACK, apps[0]!);
      expect(await use('last', outputs)).toEqual(['last']);
      expect(await account.deploy(STACK, apps[1]!)).toMatchObject(outputs);
      expect(await use('current', outputs)).toEqual(['current', 'last']);
      expect(await account.deploy(STACK, apps[0]!)).toEqual(outputs);
      expect(await use('roll-back', outputs)).toEqual(['current', 'last', 'roll-back']);
      const { Table } = await account.dynamodb.describeTable({ TableName: outputs.TableName! });
      expect(Table!.GlobalSecondaryIndexes!.map(({ IndexName }) => IndexName).sort()).toEqual(['byStatus', 'byTime']);
    },
    5 * MINUTES,
  );
});
