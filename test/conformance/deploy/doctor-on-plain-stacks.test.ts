import '../../support/oldest-cdk';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { doctor } from '../../../bin/doctor';
import { UniformStream } from '../../../lib';
import { areShardsEven } from '../../../lib/core/resharding';
import { listOpenShards } from '../../../lib/core/resharding/open-shards';
import { printed } from '../../support/command';
import { describeWhere } from '../../support/describe-where';
import { PYTHON_NEEDED } from '../../support/fetched';
import { accountForTests, fetchEmulator, MINUTES, REGION } from './account';
import { type HotTableRun, type HotWrite, type RecordedRun, recordedRun } from './hot-table-run';
import { PermissionProxy } from './permission-proxy';
import { plainTemplates } from './plain-stacks';

/**
 * Runs `doctor` on five stacks of moto that do not use this library. Two tables have the metrics of a run of a hot table. After
 * the advice of `doctor`, the same run has no throttles.
 */

const GUIDE = 'https://github.com/cdk-even-shards/cdk-even-shards/blob/main/docs/guides/adopt.md';

/** Synthesizes a stack whose constructor contains the code that doctor has printed. */
function synthesizeAdvice(outdir: string, stackName: string, code: readonly string[]): void {
  const app = new App({ outdir });
  const body = code.filter((line) => !line.trim().startsWith('import ')).join('\n');
  new Function('UniformStream', body).call(new Stack(app, stackName), UniformStream);
  app.synth();
}

/** Most writes have the status "open". The run is 3,000 writes a second, so one partition of the index is too busy. */
const hotIndex: HotTableRun = {
  ...{ writesPerSecond: 3_000, tablePartitions: 8, indexPartitions: 8 },
  write: (random) => ({ tableKey: `order-${Math.floor(random() * 1e6)}`, indexKey: statusOf(random()) }),
};

/** Most writes are of one tenant, and each write has an item of its own. */
const hotTable: HotTableRun = {
  ...{ writesPerSecond: 2_000, tablePartitions: 8, indexPartitions: 1_000 },
  write: (random) => ({
    tableKey: random() < 0.9 ? 'acme' : `tenant-${Math.floor(random() * 100)}`,
    indexKey: `${random()}`,
  }),
};

function statusOf(random: number): string {
  return random < 0.8 ? 'open' : random < 0.95 ? 'paid' : 'done';
}

interface Found {
  readonly id: string;
  readonly weight: string;
  readonly path: string;
  readonly what: string;
  readonly change: string;
  readonly guide?: string;
  readonly code?: string[];
  readonly measured?: string[];
}

describeWhere(fetchEmulator(), PYTHON_NEEDED)('doctor on stacks that do not use this library', () => {
  const account = accountForTests({ bootstraps: false });
  const names: Record<string, Record<string, string>> = {};

  beforeAll(async () => {
    jest.spyOn(console, 'error').mockImplementation(() => {});
    for (const [StackName, template] of Object.entries(plainTemplates())) {
      await account.cloudFormation.createStack({ StackName, TemplateBody: JSON.stringify(template) });
      const { StackResourceSummaries = [] } = await account.cloudFormation.listStackResources({ StackName });
      names[StackName] = Object.fromEntries(
        StackResourceSummaries.map(({ ResourceType = '', PhysicalResourceId = '' }) => [
          ResourceType.replace(/^.*::/, ''),
          PhysicalResourceId,
        ]),
      );
    }
    // moto ignores the settings of recovery and encryption of a template.
    for (const { Stream: StreamName, GlobalTable: TableName } of Object.values(names)) {
      const PointInTimeRecoverySpecification = { PointInTimeRecoveryEnabled: true };
      if (TableName !== undefined) {
        await account.dynamodb.updateContinuousBackups({ TableName, PointInTimeRecoverySpecification });
      }
      const key = { EncryptionType: 'KMS', KeyId: 'alias/aws/kinesis' } as const;
      if (StreamName !== undefined) await account.kinesis.startStreamEncryption({ StreamName, ...key });
    }
  }, 5 * MINUTES);
  afterEach(() => {
    process.exitCode = undefined;
  });

  const tableOf = (stack: string) => names[stack]!.GlobalTable!;
  const args = (...more: string[]) => [...more, '--endpoint', account.endpoint];
  const found = async (...more: string[]): Promise<Found[]> =>
    JSON.parse(await printed(doctor, ...args(...more), '--json')).found;

  /** Puts the sum of each of the last minutes. */
  async function measure(
    Namespace: string,
    dimensions: Record<string, string>,
    sums: Record<string, readonly number[]>,
  ) {
    const Dimensions = Object.entries(dimensions).map(([Name, Value]) => ({ Name, Value }));
    const last = Math.floor(Date.now() / MINUTES) * MINUTES;
    const MetricData = Object.entries(sums).flatMap(([MetricName, values]) =>
      values.map((Value, n) => ({
        ...{ MetricName, Dimensions, Value },
        Timestamp: new Date(last - (values.length - n) * MINUTES),
      })),
    );
    await account.cloudWatch.putMetricData({ Namespace, MetricData });
  }

  async function record(TableName: string, run: RecordedRun, IndexName?: string): Promise<void> {
    const sumsOf = (throttled: number) => ({
      ConsumedWriteCapacityUnits: [run.consumed],
      WriteThrottleEvents: [throttled],
      WriteKeyRangeThroughputThrottleEvents: [throttled],
    });
    await measure('AWS/DynamoDB', { TableName }, sumsOf(run.throttledByTable));
    if (IndexName === undefined) return;
    const ofIndex = { TableName, GlobalSecondaryIndexName: IndexName };
    await measure('AWS/DynamoDB', ofIndex, sumsOf(run.throttledByIndex));
  }

  /** Turns on Contributor Insights for a table or an index, and stores how often each key was accessed or throttled. */
  async function count(kind: 'PKC' | 'PKT', keys: ReadonlyMap<string, number>, TableName: string, IndexName?: string) {
    const ContributorInsightsMode = kind === 'PKC' ? 'ACCESSED_AND_THROTTLED_KEYS' : 'THROTTLED_KEYS';
    await account.dynamodb.updateContributorInsights({
      ...{ TableName, ContributorInsightsAction: 'ENABLE', ContributorInsightsMode },
      ...(IndexName !== undefined && { IndexName }),
    });
    const { ContributorInsightsRuleList = [] } = await account.dynamodb.describeContributorInsights({
      TableName,
      ...(IndexName !== undefined && { IndexName }),
    });
    const Rule = ContributorInsightsRuleList.find((rule) => rule.startsWith(`DynamoDBContributorInsights-${kind}-`))!;
    for (const [key, Value] of keys) {
      const Dimensions = Object.entries({ Rule, Key: JSON.stringify([key]) }).map(([Name, of]) => ({
        Name,
        Value: of,
      }));
      await account.cloudWatch.putMetricData({
        Namespace: 'Keys',
        MetricData: [{ MetricName: 'Count', Dimensions, Value }],
      });
    }
  }

  test('a stack without metrics is not healthy: doctor names each missing measurement, and ends with code 6', async () => {
    const all = await found('--stack', 'Silent');
    expect(all.map(({ id, path }) => `${id} ${path}`)).toEqual([
      'notMeasured Silent/Events',
      'notMeasured Silent/Orders',
      'notMeasured Silent/Orders/byStatus',
    ]);
    expect(process.exitCode).toBe(6);
    const text = await printed(doctor, ...args('--table', tableOf('Silent')));
    expect(text).toContain('CloudWatch has no value: it had no traffic, or its metrics are missing');
    expect(process.exitCode).toBe(6);
  });

  test('a healthy stack gets no advice', async () => {
    const TableName = tableOf('Healthy');
    const ConsumedWriteCapacityUnits = [6_000, 6_000];
    await measure('AWS/DynamoDB', { TableName }, { ConsumedWriteCapacityUnits });
    await measure('AWS/DynamoDB', { TableName, GlobalSecondaryIndexName: 'byStatus' }, { ConsumedWriteCapacityUnits });
    await measure(
      'AWS/Kinesis',
      { StreamName: names.Healthy!.Stream! },
      { IncomingRecords: [150_000], IncomingBytes: [9e6] },
    );
    expect(await printed(doctor, ...args('--stack', 'Healthy'))).toMatch(/^nothing to do; looked at 1 stream/);
    expect(process.exitCode).toBeUndefined();
  });

  test('a hot index – doctor names the index and the cause, gives both numbers of shards, and its code stops the throttles', async () => {
    const TableName = tableOf('HotIndex');
    const before = recordedRun(hotIndex);
    await record(TableName, before, 'byStatus');
    // Without Contributor Insights, the busiest keys are reported as not measured.
    const unknown = await found('--stack', 'HotIndex');
    expect(unknown.map(({ id }) => id)).toEqual(['hotPartition', 'notMeasured']);
    expect(unknown[1]!.what).toBe('the busiest keys: Contributor Insights are disabled');
    await count('PKC', before.accessed, TableName, 'byStatus');

    const [advice, ...more] = await found('--stack', 'HotIndex', '--show-keys');
    expect(more).toEqual([]);
    expect(advice).toMatchObject({
      id: 'hotIndexKey',
      path: 'HotIndex/Orders/byStatus',
      what: expect.stringMatching(
        /^[\d,]+ writes were throttled: a partition of the index .*throttles these writes with the index$/,
      ),
      guide: `${GUIDE}#same-app-and-same-id`,
    });
    const [formula] = advice!.measured!.filter((line) => line.startsWith('the formula of AWS: '));
    expect(formula).toMatch(/^the formula of AWS: [3-9] shards;/);
    expect(advice!.measured!.join('\n')).toMatch(/do shards help: yes/);
    const code = advice!.code!.join('\n');
    expect(code).toContain("const table = new ShardedTable(this, 'Orders', { partitionKey: { name: 'orderId'");
    expect(code).toContain("valueAttribute: { name: 'status', type: AttributeType.STRING }");
    expect(code).toContain("sortKey: { name: 'createdAt', type: AttributeType.STRING }");

    const counts = new Map(
      [...code.matchAll(/'(open|paid|done)': (\d+),/g)].map(([, value, n]) => [value!, Number(n)]),
    );
    const partitions = Number(/one of (\d+) partitions/.exec(advice!.measured!.join('\n'))![1]);
    const sharded = (random: () => number): HotWrite => {
      const { tableKey, indexKey } = hotIndex.write(random);
      return { tableKey, indexKey: `${indexKey}#${Math.floor(random() * (counts.get(indexKey) ?? 1))}` };
    };
    expect(before.throttledByIndex).toBeGreaterThan(100_000);
    const after = recordedRun({ ...hotIndex, indexPartitions: partitions, write: sharded });
    expect(after.throttledByIndex).toBe(0);
  });

  test('keys are hidden unless --show-keys is given, also in the code', async () => {
    const hidden = await printed(doctor, ...args('--stack', 'HotIndex'));
    expect(hidden).not.toMatch(/open|paid|done/);
    expect(hidden).toContain('[key1]: ');
    expect(await printed(doctor, ...args('--stack', 'HotIndex', '--json'))).not.toMatch(/open|paid|done/);
    expect(await printed(doctor, ...args('--stack', 'HotIndex', '--show-keys'))).toMatch(/"open" \d+%/);
  });

  test('a hot key of a table – doctor uses the throttled keys, and advises a new KeyShardedTable', async () => {
    const TableName = tableOf('HotTable');
    const before = recordedRun(hotTable);
    await record(TableName, before);
    await count('PKT', before.throttled, TableName);
    const [advice, ...more] = await found('--stack', 'HotTable', '--show-keys');
    expect(more).toEqual([]);
    expect(advice).toMatchObject({
      id: 'hotTableKey',
      path: 'HotTable/Messages',
      guide: `${GUIDE}#same-app-not-convertible`,
      code: expect.arrayContaining(["  new KeyShardedTable(this, 'ShardedMessages', {"]),
    });
    const code = advice!.code!.join('\n');
    const acme = Number(/'acme': (\d+),/.exec(code)![1]);
    const partitions = Number(/one of (\d+) partitions/.exec(advice!.measured!.join('\n'))![1]);
    const sharded = (random: () => number): HotWrite => {
      const { tableKey, indexKey } = hotTable.write(random);
      return { tableKey: tableKey === 'acme' ? `acme-${Math.floor(random() * acme)}` : tableKey, indexKey };
    };
    const after = recordedRun({ ...hotTable, tablePartitions: partitions, write: sharded });
    expect(after.throttledByTable).toBe(0);
  });

  test('a sample – doctor stays within its budget, and names the items that a new index would reject', async () => {
    const TableName = tableOf('HotTable');
    for (let n = 0; n < 400; n++) {
      const status = n % 20 === 0 ? { NULL: true } : n % 20 === 1 ? { N: '1' } : { S: 'open' };
      await account.dynamodb.putItem({ TableName, Item: { tenant: { S: `t${n % 40}` }, id: { S: `${n}` }, status } });
    }
    const wanted = ['--table', TableName, '--sample', '300', '--value', 'status:S', '--sort', 'id:S'];
    const rejected = (await found(...wanted)).find(({ id }) => id === 'rejectedByIndex');
    expect(rejected?.what).toMatch(
      /^an index on status \(S\), id \(S\) would reject puts of \d+ items of \d+ in the sample/,
    );
    expect(rejected?.measured).toEqual([expect.stringMatching(/^status \(type S\): .*with another type|NULL/)]);
    // Also without rejected items, the command prints the result, and a wrong name is not a healthy table.
    const ofId = ['--table', TableName, '--sample', '300', '--value', 'id:S'];
    expect(await printed(doctor, ...args(...ofId))).toMatch(
      /an index on id \(S\) would reject 0 of \d+ in the sample \(0%, /,
    );
    const wrong = await found('--table', TableName, '--sample', '300', '--value', 'statsu:S');
    expect(wrong.filter(({ id }) => id === 'notMeasured').map(({ what }) => what)).toEqual([
      'the attribute statsu: no item of the sample has it',
    ]);
    for (const value of ['status', 'status:X', 'status:s']) {
      await expect(found('--table', TableName, '--sample', '300', '--value', value)).rejects.toThrow(
        'must be NAME:TYPE',
      );
    }
    const arn = `arn:aws:dynamodb:${REGION}:123456789012:table/${TableName}`;
    await expect(found('--table', arn)).rejects.toThrow('--table must be a name');
  });

  test(
    'an uneven stream – the deployed code of the advice makes the shards even, and doctor then finds nothing',
    async () => {
      const StreamName = names.UnevenStream!.Stream!;
      await measure('AWS/Kinesis', { StreamName }, { IncomingRecords: [150_000], IncomingBytes: [9e6] });
      const { Shards = [] } = await account.kinesis.listShards({ StreamName });
      const { ShardId, HashKeyRange } = Shards[0]!;
      const NewStartingHashKey = String(BigInt(HashKeyRange!.StartingHashKey!) + 2n ** 124n);
      await account.kinesis.splitShard({ StreamName, ShardToSplit: ShardId, NewStartingHashKey });
      const [advice, ...more] = await found('--stack', 'UnevenStream');
      expect(more).toEqual([]);
      expect(advice).toMatchObject({ id: 'unevenShards', weight: 'uneven', guide: `${GUIDE}#uneven-shards` });
      expect(advice!.change).toContain('A plain Stream becomes a UniformStream under the same id');
      expect(advice!.code).toContain("  const stream = new UniformStream(this, 'Events', { shardCount: 4 });");
      expect((await found('--stream', StreamName)).map(({ id }) => id)).toEqual(['unevenShards']);

      // The printed code replaces the plain Stream of the app.
      const outdir = join(account.folder, 'advised');
      await account.bootstrap();
      synthesizeAdvice(outdir, 'UnevenStream', advice!.code!);
      await account.deploy('UnevenStream', outdir);
      const { StackResourceSummaries = [] } = await account.cloudFormation.listStackResources({
        StackName: 'UnevenStream',
      });
      const physical = (part: string) =>
        StackResourceSummaries.find(({ LogicalResourceId = '', ResourceType = '' }) =>
          `${ResourceType} ${LogicalResourceId}`.startsWith(part),
        )!.PhysicalResourceId!;
      expect(physical('AWS::Kinesis::Stream')).toBe(StreamName);
      await account.kinesis.startStreamEncryption({ StreamName, EncryptionType: 'KMS', KeyId: 'alias/aws/kinesis' });
      await account.invoke(physical('AWS::Lambda::Function Events'), { repair: true });
      const open = await listOpenShards(account.kinesis, StreamName);
      expect([open.length, areShardsEven(open)]).toEqual([4, true]);
      process.exitCode = undefined;
      expect(await printed(doctor, ...args('--stack', 'UnevenStream'))).toMatch(/^nothing to do; looked at 1 stream/);
      expect(process.exitCode).toBeUndefined();
    },
    5 * MINUTES,
  );

  test.each([
    ['--stack', ['--stack', 'Healthy', '--sample', '300']],
    ['--stream', ['--stream', 'Stream']],
    ['--table', ['--table', 'GlobalTable', '--sample', '300']],
  ])(
    'doctor %s on a hot stack – sends exactly the requests of its policy, and names each denied action',
    async (_, form) => {
      const proxy = await PermissionProxy.open(account.endpoint);
      try {
        // Throttles without Contributor Insights let the doctor read each kind of measurement.
        const TableName = tableOf('Healthy');
        await count('PKT', new Map([['a', 1]]), TableName);
        const sums = { WriteThrottleEvents: [60], WriteKeyRangeThroughputThrottleEvents: [60] };
        await measure('AWS/DynamoDB', { TableName }, sums);
        const named = form.map((word) => names.Healthy![word] ?? word);
        const where = [...named, '--endpoint', proxy.endpoint];
        const { Statement } = JSON.parse(await printed(doctor, ...where, '--permissions'));
        const allowed: string[] = Statement.flatMap(({ Action }: { Action: string[] }) => Action);
        expect(allowed.filter((action) => !/:(Describe|List|Get|Scan|Query)/.test(action))).toEqual([]);
        proxy.actions.clear();
        await printed(doctor, ...where);
        expect([...proxy.actions].sort()).toEqual([...allowed].sort());
        for (const action of allowed) {
          proxy.denied = action;
          process.exitCode = undefined;
          const { found: all } = JSON.parse(await printed(doctor, ...where, '--json')) as { found: Found[] };
          const missing = all.filter(({ id }) => id === 'notMeasured');
          expect([action, missing.map(({ what }) => what)]).toEqual([
            action,
            expect.arrayContaining([expect.stringMatching(new RegExp(`access denied: .*${action}`))]),
          ]);
          expect(missing.some(({ change }) => change.includes(action))).toBe(true);
          expect([action, process.exitCode]).toEqual([action, all.length > missing.length ? 1 : 6]);
        }
      } finally {
        proxy.close();
      }
    },
    2 * MINUTES,
  );
});
