import { check } from '../../bin/check';
import { AccountError } from '../../bin/deployed-stack/account-error';
import { type LocalStack, startLocal } from '../../bin/local/run-local';
import { waitUntilActive } from '../support/active-stream';
import { printed } from '../support/command';
import { type Deployment, synthesizeDeployment } from '../support/stacks/deployments';
import { stackClientOf } from './stack-client';

/** Uses the streams and tables of a local run. A fake CloudFormation returns the templates of the deployed assembly. */
describe('even-shards check --account', () => {
  let deployed: string;
  let stack: LocalStack;

  beforeAll(async () => {
    deployed = synthesizeDeployment({ shardCount: 4 });
    stack = await startLocal({ app: deployed });
  }, 60_000);
  afterAll(() => stack?.stop());
  beforeEach(() => {
    jest.spyOn(console, 'error').mockImplementation(() => {});
  });
  afterEach(() => {
    jest.restoreAllMocks();
    process.exitCode = undefined;
  });

  const checked = (coming: Deployment, clients: object = {}, ...args: string[]): Promise<string> => {
    const app = synthesizeDeployment(coming);
    const all = { cloudformation: stackClientOf(deployed), ...stack.clients, ...clients };
    return printed((line) => check(line, () => all), '--account', '--app', app, ...args);
  };

  test('reports no finding if the deployed stacks are the same as the app, and prints the time of the synthesis', async () => {
    expect(await checked({})).toBe('nothing to look out for; 1 of 1 stack is deployed');
    expect(console.error).toHaveBeenCalledWith(
      expect.stringMatching(/^comparing .*, synthesized at 20\d\d-\d\d-\d\dT[\d:.]+Z$/),
    );
  });

  test('treats a stack that is not in the account as new', async () => {
    expect(await checked({ queryInOtherStack: true })).toMatch(/; 1 of 2 stacks are deployed\nnew: ShopReports/);
  });

  test('compares a shard count with the open shards, not with the template', async () => {
    const { name } = stack.streams[0]!;
    expect(await checked({ shardCount: 8 })).toMatch(/^nothing/);
    await mergeTwo(name);
    await waitUntilActive(stack.clients.kinesis, name);
    expect(await checked({ shardCount: 8 })).toContain('ShardCount would change from 3 to 8');
  });

  test.each([
    [16, 'would change the open shards from 16 to 4, which Kinesis rejects'],
    [8, 'would change the open shards from 8 to 4, and the stream keeps this count'],
  ])('--revert-drift reports a stream with %d shards instead of 4', async (OpenShardCount, text) => {
    const StreamDescriptionSummary = { StreamStatus: 'ACTIVE', OpenShardCount };
    const clients = { kinesis: { describeStreamSummary: async () => ({ StreamDescriptionSummary }) } };
    expect(await checked({}, clients)).toMatch(/^nothing/);
    expect(await checked({}, clients, '--revert-drift')).toContain(text);
    expect(await checked({ shardCount: 8 }, clients, '--revert-drift')).not.toContain('driftReverted');
  });

  test('compares warm throughput with the table in the account', async () => {
    const { Table } = await stack.clients.dynamodb.describeTable({ TableName: stack.tables[0]!.name });
    const WarmThroughput = { ReadUnitsPerSecond: 30_000, WriteUnitsPerSecond: 9_000, Status: 'ACTIVE' };
    const dynamodb = { describeTable: async () => ({ Table: { ...Table, WarmThroughput } }) };
    const warm = (readUnitsPerSecond: number): Deployment => ({ warmThroughput: { readUnitsPerSecond } });
    expect(await checked(warm(20_000), { dynamodb })).toContain('ReadUnitsPerSecond from 30000 to 20000');
    expect(await checked(warm(40_000), { dynamodb })).toMatch(/^nothing/);
    const clients = { dynamodb, cloudformation: stackClientOf(synthesizeDeployment(warm(20_000))) };
    expect(await checked(warm(20_000), clients)).toMatch(/^nothing/);
    expect(await checked(warm(20_000), clients, '--revert-drift')).toContain('ReadUnitsPerSecond from 30000 to 20000');
  });

  describe('for a table that gets its first sharded index', () => {
    const plain: Deployment = { indexes: [] };
    const adopting: Deployment = { indexes: ['byStatus'] };
    const adopted = (sample: object, ...args: string[]) => {
      const before = synthesizeDeployment(plain);
      const { dynamodb } = stack.clients;
      const describeTable = async (input: { TableName: string }) => {
        const { Table } = await dynamodb.describeTable(input);
        return { Table: { ...Table, GlobalSecondaryIndexes: [] } };
      };
      return checked(
        adopting,
        { cloudformation: stackClientOf(before), dynamodb: { describeTable, ...sample } },
        ...args,
      );
    };
    const scanOf = (...Items: object[]) => ({
      scan: async ({ Segment = 0 }) => ({ Items: Segment === 0 ? Items : [] }),
    });

    test('reports nothing if the table has no items', async () => {
      const TableName = stack.tables[0]!.name;
      expect(await adopted({ scan: () => stack.clients.dynamodb.scan({ TableName }) })).toMatch(/^nothing/);
    });

    test('reports readers in the same deployment, and the items that the index would reject', async () => {
      const order = { orderId: { S: '1' }, createdAt: { S: '2026' } };
      const report = await adopted(
        scanOf({ ...order, status: { S: 'new' } }, { ...order, createdAt: { N: '7' } }, order),
      );
      expect(report).toContain('ShardedIndex.adoptedAtOnce');
      expect(report).toContain('33.3 % of 3 sampled items (createdAt is not a valid S in 33.3 % (another type: 1))');
    });

    test('names the table if the account does not allow dynamodb:Scan', async () => {
      const denied = Object.assign(new Error('denied'), { name: 'AccessDeniedException' });
      const report = await adopted({ scan: () => Promise.reject(denied) });
      expect(report).toContain('ShardedIndex.adoptedAtOnce');
      expect(report).toContain('not compared: the items of Shop/Orders/Table: dynamodb:Scan is not allowed');
    });
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
