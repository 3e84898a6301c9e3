import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CloudAssemblyError, readCloudAssembly } from '../../../../../bin/local/assembly/cloud-assembly';
import { planDeployment } from '../../../../../bin/local/assembly/deployment-plan';
import { type OrdersAppOptions, synthesizeOrdersApp } from '../../../../support/stacks/orders-app';

function codeDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'orders-code-'));
  writeFileSync(join(directory, 'index.js'), 'exports.handler = async () => null;');
  return directory;
}

function synthesize(options: Partial<OrdersAppOptions> = {}): string {
  return synthesizeOrdersApp({ code: codeDirectory(), ...options });
}

describe.each(['aws-cdk-lib', 'aws-cdk-lib-newest'] as const)('an assembly of %s', (version) => {
  const stacks = readCloudAssembly(synthesize({ version }));
  const plan = planDeployment(stacks);
  const tableName = expect.stringMatching(/^Orders-Table[0-9A-F]+-[0-9A-F]{12}$/);

  test('lists stacks after their dependencies, including the stacks of stages', () => {
    const names = stacks.map(({ name }) => name);
    expect([...names].sort()).toEqual(['AReports', 'Beta-Archive', 'Orders']);
    expect(names.indexOf('Orders')).toBeLessThan(names.indexOf('AReports'));
  });

  test('lists its streams with their construct paths', () => {
    expect([...plan.streams].sort((a, b) => a.path.localeCompare(b.path))).toEqual([
      {
        path: 'Beta/Archive/Events',
        name: 'archive',
        arn: 'arn:aws:kinesis:us-east-1:000000000000:stream/archive',
        mode: 'PROVISIONED',
        shardCount: 1,
      },
      {
        path: 'Orders/Events',
        name: expect.stringMatching(/^Orders-Events[0-9A-F]+-[0-9A-F]{12}$/),
        arn: expect.stringMatching(/^arn:aws:kinesis:us-east-1:000000000000:stream\/Orders-Events/),
        mode: 'PROVISIONED',
        shardCount: 4,
      },
    ]);
  });

  test('lists its tables as CreateTable inputs', () => {
    expect(plan.tables).toEqual([
      {
        path: 'Orders/Table',
        name: tableName,
        arn: expect.stringMatching(/^arn:aws:dynamodb:us-east-1:000000000000:table\/Orders-Table/),
        definition: {
          TableName: tableName,
          KeySchema: [{ AttributeName: 'orderId', KeyType: 'HASH' }],
          AttributeDefinitions: ['orderId', 'statusShard', 'createdAt'].map((AttributeName) => ({
            AttributeName,
            AttributeType: 'S',
          })),
          BillingMode: 'PAY_PER_REQUEST',
          GlobalSecondaryIndexes: [
            {
              IndexName: 'byStatus',
              KeySchema: [
                { AttributeName: 'statusShard', KeyType: 'HASH' },
                { AttributeName: 'createdAt', KeyType: 'RANGE' },
              ],
              Projection: { ProjectionType: 'ALL' },
            },
          ],
        },
        converted: [],
      },
    ]);
  });

  test('lists its functions with resolved environment variables, even if a variable refers to another stack', () => {
    const stream = plan.streams.find(({ path }) => path === 'Orders/Events')!;
    const [table] = plan.tables;
    const [writer, reader] = ['Orders/Writer/Function', 'AReports/Reader/Function'].map(
      (path) => plan.functions.find((candidate) => candidate.path === path)!,
    );
    expect(writer).toMatchObject({
      runtime: 'nodejs22.x',
      handler: 'index.handler',
      timeoutSeconds: 60,
      memoryMb: 512,
      environment: {
        STREAM_NAME: stream.name,
        STREAM_ARN: stream.arn,
        TABLE_NAME: table!.name,
        INDEX_ARN: `${table!.arn}/index/byStatus`,
      },
    });
    expect(readdirSync(writer!.codeDirectory)).toEqual(['index.js']);
    expect(reader!.environment).toEqual({ STREAM_NAME: stream!.name });
  });

  test('lists each resource that is not emulated, and marks the resources that a local run needs', () => {
    expect(plan.leftOut).toEqual(
      expect.arrayContaining([
        {
          path: 'Orders/Writer/Function/ServiceRole',
          type: 'AWS::IAM::Role',
          reason: 'not needed here',
          needed: false,
        },
        {
          path: 'Orders/Queue',
          type: 'AWS::SQS::Queue',
          reason: 'not emulated, and no resource that runs here refers to it',
          needed: true,
        },
      ]),
    );
  });
});

test('generated names are the same in every run', () => {
  const code = codeDirectory();
  const [first, second] = [1, 2].map(() => planDeployment(readCloudAssembly(synthesizeOrdersApp({ code }))));
  expect(first!.tables[0]!.name).toBe(second!.tables[0]!.name);
});

test('if a variable refers to a resource that is not emulated, the variable is not set, and the plan contains the reason', () => {
  const plan = planDeployment(readCloudAssembly(synthesize({ queueVariable: true })));
  const writer = plan.functions.find(({ path }) => path === 'Orders/Writer/Function')!;
  expect(writer.unset).toEqual({
    QUEUE_URL: expect.stringMatching(/^Queue\w+ is an AWS::SQS::Queue, which is not emulated$/),
  });
  expect(Object.keys(writer.environment)).toEqual(['STREAM_NAME', 'STREAM_ARN', 'TABLE_NAME', 'INDEX_ARN']);
});

test('a table with a multi-attribute key that the library did not create is left out, and the reason names the key layout to choose', () => {
  const { tables, leftOut } = planDeployment(readCloudAssembly(synthesize({ keyLayout: 'multi-attribute' })));
  expect(tables).toEqual([]);
  expect(leftOut.find(({ path }) => path === 'Orders/Table')!.reason).toMatch(
    /^its index byStatus has a multi-attribute key \(status, shard, createdAt\), .* --dynamodb-endpoint .* keyLayout: KeyLayout\.SINGLE_ATTRIBUTE$/,
  );
});

test('planDeployment keeps an index with a multi-attribute key if the emulator supports multi-attribute keys', () => {
  const { tables } = planDeployment(readCloudAssembly(synthesize({ keyLayout: 'multi-attribute' })), {
    multiAttributeKeys: true,
  });
  const [index] = tables[0]!.definition.GlobalSecondaryIndexes!;
  expect(index!.KeySchema!.map(({ AttributeName }) => AttributeName)).toEqual(['status', 'shard', 'createdAt']);
});

test('a function with a missing asset is left out', () => {
  const directory = synthesize();
  for (const asset of readdirSync(directory).filter((name) => name.startsWith('asset.'))) {
    rmSync(join(directory, asset), { recursive: true });
  }
  const { functions, leftOut } = planDeployment(readCloudAssembly(directory));
  expect(functions).toEqual([]);
  expect(leftOut).toContainEqual({
    ...{ path: 'Orders/Writer/Function', type: 'AWS::Lambda::Function', needed: true },
    reason: expect.stringMatching(/^its code \(asset \w+\.zip\) is not in the assembly: run `npx cdk synth` again$/),
  });
});

test('readCloudAssembly rejects a directory without an assembly, and names the command that creates one', () => {
  expect(() => readCloudAssembly('/no/such/cdk.out')).toThrow(CloudAssemblyError);
  expect(() => readCloudAssembly('/no/such/cdk.out')).toThrow(
    'no manifest.json in /no/such/cdk.out: run `npx cdk synth` first, or name the directory with --app',
  );
});

test.each([
  ['{', 'is not JSON'],
  ['7', 'is malformed (it must be an object)'],
])('readCloudAssembly rejects the manifest %s', (text, problem) => {
  const directory = mkdtempSync(join(tmpdir(), 'orders-'));
  writeFileSync(join(directory, 'manifest.json'), text);
  expect(() => readCloudAssembly(directory)).toThrow(CloudAssemblyError);
  expect(() => readCloudAssembly(directory)).toThrow(`manifest.json ${problem}`);
});
