import { rmSync } from 'node:fs';
import { check } from '../../bin/check';
import { AccountError } from '../../bin/deployed-stack/account-error';
import { type LocalStack, startLocal } from '../../bin/local/run-local';
import { printed } from '../support/command';
import { type Deployment, synthesizeDeployment } from '../support/stacks/deployments';
import { stackClientOf } from './stack-client';

/** Uses the streams and tables of a local run. A fake CloudFormation returns the templates of the deployed assembly. */
describe('even-shards check --account', () => {
  let deployed: string;
  let stack: LocalStack;
  const folders: string[] = [];

  beforeAll(async () => {
    deployed = synthesizeDeployment({ shardCount: 4 });
    stack = await startLocal({ app: deployed });
  }, 60_000);
  afterAll(async () => {
    await stack?.stop();
    for (const folder of [deployed, ...folders]) rmSync(folder, { recursive: true });
  });
  beforeEach(() => {
    jest.spyOn(console, 'error').mockImplementation(() => {});
  });
  afterEach(() => {
    jest.restoreAllMocks();
    process.exitCode = undefined;
  });

  const checked = (coming: Deployment, clients: object = {}): Promise<string> => {
    const app = synthesizeDeployment(coming);
    folders.push(app);
    const all = { cloudformation: stackClientOf(deployed), ...stack.clients, ...clients };
    return printed((args) => check(args, () => all), '--account', '--app', app);
  };

  test('reports no finding if the deployed stacks are the same as the app', async () => {
    expect(await checked({})).toBe('nothing to look out for; 1 of 1 stack is deployed');
  });

  test('treats a stack that is not in the account as new', async () => {
    expect(await checked({ queryInOtherStack: true })).toMatch(/; 1 of 2 stacks are deployed\nnew: ShopReports/);
  });

  test('compares a shard count with the open shards, not with the template', async () => {
    const { name } = stack.streams[0]!;
    expect(await checked({ shardCount: 8 })).toMatch(/^nothing/);
    await mergeTwo(name);
    await untilActive(name);
    expect(await checked({ shardCount: 8 })).toContain('ShardCount would change from 3 to 8');
  });

  async function mergeTwo(StreamName: string): Promise<void> {
    const { Shards = [] } = await stack.clients.kinesis.listShards({ StreamName });
    const [one, other] = Shards;
    await stack.clients.kinesis.mergeShards({
      StreamName,
      ShardToMerge: one!.ShardId,
      AdjacentShardToMerge: other!.ShardId,
    });
  }

  async function untilActive(StreamName: string): Promise<void> {
    for (;;) {
      const { StreamDescriptionSummary } = await stack.clients.kinesis.describeStreamSummary({ StreamName });
      if (StreamDescriptionSummary?.StreamStatus === 'ACTIVE') return;
    }
  }

  test('reports an index that is not active, and a table that was deleted', async () => {
    const { name } = stack.tables[0]!;
    const { Table } = await stack.clients.dynamodb.describeTable({ TableName: name });
    const [index] = Table!.GlobalSecondaryIndexes!;
    const creating = { ...Table, GlobalSecondaryIndexes: [{ ...index, IndexStatus: 'CREATING' }] };
    const describing = (Table: object) => ({ dynamodb: { describeTable: async () => ({ Table }) } });
    expect(await checked({}, describing(creating))).toContain('index byStatus is CREATING: an update fails until');
    const gone = Object.assign(new Error('no such table'), { name: 'ResourceNotFoundException' });
    expect(await checked({}, { dynamodb: { describeTable: () => Promise.reject(gone) } })).toContain(
      'the table of the template is not in the account',
    );
  });

  test('throws AccountError if the account rejects a request', async () => {
    const denied = Object.assign(new Error('not authorized'), { name: 'AccessDenied', $metadata: {} });
    const cloudformation = { getTemplate: () => Promise.reject(denied) };
    await expect(checked({}, { cloudformation })).rejects.toThrow(AccountError);
  });
});
