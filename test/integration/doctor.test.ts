import { exitCodeOf } from '../../bin/commands';
import { doctor } from '../../bin/doctor';
import { examples } from '../../bin/local/ready-message';
import { type LocalStack, startLocal } from '../../bin/local/run-local';
import { writeItems } from '../../bin/local/write-items';
import { parked } from '../../bin/parked';
import { query } from '../../bin/query';
import { tail } from '../../bin/tail';
import { DynamoDbParkingStore, OrderedConsumer } from '../../lib/core/consumer';
import { FakeCloudWatch } from '../../lib/testing';
import { waitUntilActive } from '../support/active-stream';
import { printed } from '../support/command';
import { kinesisEvent, shardOf } from '../support/fakes/stream-events';
import { synthesizeDeployment } from '../support/stacks/deployments';
import { startWatchedStack, tableAt, type WatchedStack } from '../support/watched-stack';
import { synthesizeConsumerApp } from './consumer-app';

/**
 * The tests create faults in a stack. `doctor` must find each fault and print the change that repairs the fault.
 * `doctor` must find nothing in a healthy stack.
 */

const MINUTE_MS = 60_000;

beforeEach(() => {
  jest.spyOn(console, 'error').mockImplementation(() => {});
});
afterEach(() => {
  jest.restoreAllMocks();
  process.exitCode = undefined;
});

interface Found {
  readonly id: string;
  readonly weight: string;
  readonly path: string;
  readonly what: string;
  readonly change: string;
  readonly throttling?: object;
  readonly measured?: string[];
  readonly guide?: string;
}

describe('even-shards doctor on a local run with limits', () => {
  let watched: WatchedStack;
  let stack: LocalStack;
  let where: string[];

  beforeAll(async () => {
    watched = await startWatchedStack({ shardCount: 4, limits: 0.1 });
    ({ stack } = watched);
    const { kinesis, dynamodb } = stack.endpoints;
    where = ['--app', watched.app, '--kinesis-endpoint', kinesis, '--dynamodb-endpoint', dynamodb];
    where.push('--console', watched.localConsole.url);
  }, 120_000);
  afterAll(() => watched?.stop());

  const found = async (...args: string[]): Promise<Found[]> =>
    JSON.parse(await printed(doctor, ...where, ...args, '--json')).found;
  const streamName = () => stack.streams[0]!.name;

  test('finds nothing in a healthy stack, and ends with exit code 0. Without --scan, the items are not measured, and the exit code is 6', async () => {
    expect(await printed(doctor, ...where, '--scan')).toBe(
      'nothing to do; looked at 1 stream, 4 sharded indexes and tables, 3 tables and indexes without shards, 0 ordered consumers',
    );
    expect(process.exitCode).toBeUndefined();
    expect(await printed(doctor, ...where)).toContain(
      'App/Jobs: the items that no query finds: only --scan reads the items',
    );
    expect((await found()).map(({ id }) => id)).toEqual(['notMeasured', 'notMeasured']);
    expect(process.exitCode).toBe(6);
  });

  test('the commands query, tail and doctor that a local run prints work without a change', async () => {
    const lines = examples(stack, watched.localConsole, watched.app).filter((line) =>
      line.startsWith('npx even-shards '),
    );
    const commands = new Map(lines.map((line) => [line.split(' ')[2]!, line.split(' ').slice(3)]));
    expect([...commands.keys()]).toEqual(['query', 'tail', 'doctor']);
    expect(await printed(query, ...commands.get('query')!)).toMatch(/^0 items from \d+ shards/);
    expect(await printed(tail, ...commands.get('tail')!, '--once')).toBe('');
    expect(await printed(doctor, ...commands.get('doctor')!)).toMatch(/^nothing to do/);
  });

  test('reports a hot shard with its throttled writes', async () => {
    const Records = Array.from({ length: 300 }, () => ({ PartitionKey: 'hot', Data: Buffer.from('x') }));
    await stack.clients.kinesis.putRecords({ StreamName: streamName(), Records });
    expect(await found('--scan')).toEqual([
      {
        id: 'hotShard',
        weight: 'refused',
        path: 'App/Events',
        what: expect.stringMatching(/^shardId-\d+ gets 4 times the records of the mean, and has throttled \d+ writes$/),
        change: expect.stringContaining('HashKeyRegistry'),
        measured: [expect.stringMatching(/^keys: /), expect.stringMatching(/^do shards help: only if several keys/)],
        code: expect.arrayContaining([expect.stringContaining("new UniformStream(this, 'Events', { shardCount: 4 })")]),
        guide: expect.stringMatching(/adopt\.md#uneven-shards$/),
      },
    ]);
    expect(process.exitCode).toBe(1);
  });

  test('reports a value of an index with too few shards', async () => {
    const items = Array.from({ length: 80 }, (_, n) => ({
      jobId: `job-${n}`,
      status: 'busy',
      createdAt: `2026-${n}`,
      data: 'x'.repeat(3_000),
    }));
    await writeItems(stack, tableAt(stack, 'App/Jobs').name, items);
    expect(JSON.stringify(await found())).not.toMatch(/busy[\\]*"/);
    const [diagnosis] = (await found('--show-keys')).filter(({ id }) => id === 'tooFewShards');
    expect(diagnosis).toMatchObject({
      weight: 'refused',
      path: 'App/Jobs/byStatus',
      what: expect.stringMatching(
        /^\d+ writes? of "busy" throttled by a hot partition: 1 shard can take 1,000 write units/,
      ),
      change: expect.stringMatching(/ShardCounts\.byValue\(\{ "busy": \d+ \}, \.\.\.\).*reshard --from 1 --to \d+/),
    });
  }, 60_000);

  test('reports a table whose own partition key receives all writes, and does not advise more shards', async () => {
    const TableName = tableAt(stack, 'App/Jobs').name;
    // A slow machine must exceed the limit of 100 units a second, too.
    const Item = { jobId: { S: 'the only one' }, data: { S: 'x'.repeat(60_000) } };
    // The SDK retries throttled writes, so some of these calls succeed late or fail.
    await Promise.allSettled(Array.from({ length: 80 }, () => stack.clients.dynamodb.putItem({ TableName, Item })));
    const [diagnosis] = (await found()).filter(({ id }) => id === 'hotPartition');
    expect(diagnosis).toMatchObject({
      path: 'App/Jobs',
      throttling: { operation: 'write', cause: 'keyRange' },
      change: expect.stringContaining('the shards of an index do not help its table'),
    });
  }, 60_000);

  test('--scan reports items that no query finds', async () => {
    const Item = { jobId: { S: 'stray' }, status: { S: 'pending' }, createdAt: { S: '2026' } };
    await stack.ungatedClients.dynamodb.putItem({ TableName: tableAt(stack, 'App/Jobs').name, Item });
    expect((await found()).map(({ id }) => id)).not.toContain('strays');
    const [first] = await found('--scan');
    expect(first).toMatchObject({ id: 'strays', weight: 'loss', path: 'App/Jobs/byStatus' });
    expect(first!.what).toMatch(/^no query finds 1 item:/);
  }, 60_000);

  test('doctor --scan – an item without the sort key of an index – names the attribute, and does not count the item twice', async () => {
    const { dynamodb } = stack.ungatedClients;
    const TableName = tableAt(stack, 'App/Jobs').name;
    const earlier = (await found('--scan')).find(({ id }) => id === 'strays')?.what;
    await dynamodb.putItem({ TableName, Item: { jobId: { S: 'unsorted' }, status: { S: 'pending' } } });
    const diagnoses = (await found('--scan')).filter(({ path }) => path === 'App/Jobs/byStatus');
    expect(diagnoses.find(({ id }) => id === 'noSortKey')).toMatchObject({
      weight: 'loss',
      what: 'no query finds 1 item without createdAt, which is the sort key of the index',
      change: expect.stringContaining('sparse: true'),
    });
    expect(diagnoses.find(({ id }) => id === 'strays')?.what).toBe(earlier);
  }, 60_000);

  test('reports uneven shards, and a doubling of the shard count that has stopped halfway', async () => {
    const { kinesis } = stack.ungatedClients;
    const split = async (index: number, part: bigint) => {
      const { Shards = [] } = await kinesis.listShards({ StreamName: streamName() });
      const open = Shards.filter(({ SequenceNumberRange }) => !SequenceNumberRange?.EndingSequenceNumber);
      const { ShardId, HashKeyRange } = open[index]!;
      const [from, to] = [BigInt(HashKeyRange!.StartingHashKey!), BigInt(HashKeyRange!.EndingHashKey!) + 1n];
      const NewStartingHashKey = String(from + (to - from) / part);
      await kinesis.splitShard({ StreamName: streamName(), ShardToSplit: ShardId, NewStartingHashKey });
      await waitUntilActive(kinesis, streamName());
    };
    await split(0, 2n);
    await split(0, 2n);
    const uneven = async () => (await found()).find(({ weight, id }) => weight === 'uneven' && id !== 'hotShard');
    expect(await uneven()).toMatchObject({
      id: 'missingSplits',
      what: 'a doubling of the shards is incomplete: 2 shards of 6 have twice the hash keys and twice the load of the others',
      change: expect.stringContaining('make 8 even shards'),
    });
    await split(0, 10n);
    expect(await uneven()).toMatchObject({
      id: 'unevenShards',
      what: expect.stringMatching(/^the widest shard has 1\.75 times/),
    });
  }, 60_000);

  test('prints its findings as a table, the most severe first', async () => {
    const text = await printed(doctor, ...where, '--scan');
    const [summary, , header, , first] = text.split('\n');
    expect(summary).toMatch(/^\d found, the most serious first; looked at 1 stream, 4 sharded indexes and tables/);
    expect(header).toMatch(/^ {5}weight +where +what$/);
    expect(first).toMatch(/^ {2}1 {2}loss +App\/Jobs\/byStatus +strays$/);
    expect(text).toContain('\n   change: ');
  }, 60_000);
});

describe('even-shards doctor with the metrics of CloudWatch', () => {
  let stack: LocalStack;
  let where: string[];
  let cloudWatch: FakeCloudWatch;

  beforeAll(async () => {
    const app = synthesizeDeployment({ shardCount: 8, retentionHours: 24 });
    stack = await startLocal({ app });
    const { kinesis, dynamodb } = stack.endpoints;
    where = ['--app', app, '--kinesis-endpoint', kinesis, '--dynamodb-endpoint', dynamodb];
  }, 60_000);
  afterAll(() => stack?.stop());
  beforeEach(() => {
    cloudWatch = new FakeCloudWatch();
    ofTable('ConsumedWriteCapacityUnits', 600);
    ofIndex('ConsumedReadCapacityUnits', 600);
  });

  /** Stores this value for each of the last ten minutes. */
  function measure(namespace: string, name: string, dimensions: Record<string, string>, value: number): void {
    const Dimensions = Object.entries(dimensions).map(([Name, Value]) => ({ Name, Value }));
    for (let minute = 1; minute <= 10; minute++) {
      const atMs = (Math.floor(Date.now() / MINUTE_MS) - minute) * MINUTE_MS;
      cloudWatch.putMetricData({ Namespace: namespace, MetricName: name, Dimensions, Value: value, atMs });
    }
  }

  const ofStream = (name: string, value: number) =>
    measure('AWS/Kinesis', name, { StreamName: stack.streams[0]!.name }, value);
  const ofTable = (name: string, value: number) =>
    measure('AWS/DynamoDB', name, { TableName: stack.tables[0]!.name }, value);
  const ofIndex = (name: string, value: number) => {
    const dimensions = { TableName: stack.tables[0]!.name, GlobalSecondaryIndexName: 'byStatus' };
    measure('AWS/DynamoDB', name, dimensions, value);
  };
  const metrics = () => cloudWatch as unknown as Parameters<typeof doctor>[1];

  /**
   * Returns all findings except `notEncrypted`. `doctor` always reports `notEncrypted`, because the emulator has no
   * encryption.
   */
  const found = async (): Promise<Found[]> => {
    const text = await printed((args) => doctor(args, metrics()), ...where, '--scan', '--json');
    return JSON.parse(text).found.filter(({ id }: Found) => id !== 'notEncrypted');
  };

  test('reports a stream without encryption', async () => {
    ofStream('IncomingRecords', 4_000 * 60);
    expect(await printed((args) => doctor(args, metrics()), ...where)).toContain(
      'Shop/Orders/Events: records are stored without encryption',
    );
  });

  test('reports unused shards with their cost', async () => {
    ofStream('IncomingRecords', 600 * 60);
    ofIndex('ConsumedWriteCapacityUnits', 600);
    expect(await found()).toEqual([
      expect.objectContaining({
        id: 'idleShards',
        weight: 'cost',
        what: 'the busiest minute has used 7.5% of 8 shards: 1 shard would be enough, with a quarter of the limit free',
        change: expect.stringContaining('set shardCount to 1, which saves about 77 dollars a month'),
      }),
      expect.objectContaining({ id: 'idleIndexShards', weight: 'cost', path: 'Shop/Orders/Table/byStatus' }),
    ]);
  });

  test('reports a consumer that will lose records because they expire before it reads them', async () => {
    ofStream('IncomingRecords', 4_000 * 60);
    ofStream('GetRecords.IteratorAgeMilliseconds', 15 * 60 * MINUTE_MS);
    expect((await found())[0]).toMatchObject({
      id: 'consumerBehind',
      weight: 'loss',
      what: expect.stringContaining('15 hours old, and the stream deletes records after 24 hours'),
      change: expect.stringContaining('increase retentionPeriod to at least 60 hours now'),
    });
  });

  test('reports nothing and ends with exit code 3, if CloudWatch returns only a part of a metric', async () => {
    const whole = cloudWatch.getMetricData.bind(cloudWatch);
    cloudWatch.getMetricData = async (input) => {
      const { MetricDataResults } = await whole(input);
      return { MetricDataResults: MetricDataResults.map((result) => ({ ...result, StatusCode: 'PartialData' })) };
    };
    const error: unknown = await found().catch((reason) => reason);
    expect(error).toMatchObject({ code: 'INCOMPLETE_ANSWER' });
    expect(exitCodeOf(error)).toBe(3);
  });

  test('prints a policy that allows only reads of the resources', async () => {
    const { Statement } = JSON.parse(await printed(doctor, ...where, '--permissions'));
    const actions = Statement.flatMap(({ Action }: { Action: string[] }) => Action);
    expect(actions).toEqual(['kinesis:DescribeStreamSummary', 'kinesis:ListShards', 'dynamodb:DescribeTable']);
    expect(JSON.stringify(Statement)).toContain(`table/${stack.tables[0]!.name}`);
  });
});

test('even-shards doctor reports the dead keys of an ordered consumer, and the command in its advice lists the dead keys', async () => {
  const app = synthesizeConsumerApp();
  const stack = await startLocal({ app });
  try {
    const { kinesis, dynamodb } = stack.endpoints;
    const where = ['--app', app, '--kinesis-endpoint', kinesis, '--dynamodb-endpoint', dynamodb];
    const metrics = new FakeCloudWatch() as unknown as Parameters<typeof doctor>[1];
    const tableName = stack.tables.find(({ path }) => path.includes('Consumer'))!.name;
    const consumer = new OrderedConsumer(
      () => {
        throw new Error('poison');
      },
      {
        parking: new DynamoDbParkingStore(stack.clients.dynamodb, { tableName, consumer: 'orders' }),
        attempts: 2,
        maxTries: 2,
      },
    );
    await consumer.handler(kinesisEvent(shardOf(['a1'])), { getRemainingTimeInMillis: () => 10_000 });
    await consumer.retryParked();
    const text = await printed((args) => doctor(args, metrics), ...where, '--json');
    const [{ change, ...dead }] = JSON.parse(text).found;
    expect(dead).toMatchObject({ weight: 'loss', id: 'deadKeys' });
    const [, advised] = /`npx even-shards parked (.+)`/.exec(change)!;
    expect(await printed(parked, ...advised!.split(' '))).toMatch(/^1 key is parked, 1 dead/);
  } finally {
    await stack.stop();
  }
}, 60_000);

test('even-shards doctor --help prints the usage', async () => {
  expect(await printed(doctor, '--help')).toMatchSnapshot();
});
