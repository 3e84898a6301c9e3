import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startKinesisEmulator } from '../../bin/local/emulators/kinesis-emulator';
import { type LocalStack, startLocal } from '../../bin/local/run-local';
import { runSample } from '../../bin/local/sample';
import { indexConfig, synthesizeReferenceApp } from '../support/reference-app';
import { describeOnDynamoDbEmulators } from './dynamodb-emulators';

/** Runs the reference app on emulators with multi-attribute keys. */

const CLI = join(__dirname, '../../dist/bin/even-shards.js');
const OF_THE_SAMPLE = '1000 jobs in the index byStatus';
const AN_HOUR = 3_600_000;

let app: string;
beforeAll(() => {
  app = synthesizeReferenceApp();
});

async function expectMultiAttributeKeys(stack: LocalStack): Promise<void> {
  const config = indexConfig(stack, 'byStatus');
  expect(config.keyLayout).toBe('multi-attribute');
  const { Table } = await stack.clients.dynamodb.describeTable({ TableName: config.tableName });
  const index = Table!.GlobalSecondaryIndexes!.find(({ IndexName }) => IndexName === 'byStatus')!;
  expect(index.KeySchema!.map(({ AttributeName }) => AttributeName)).toEqual(['status', 'byStatusShard', 'createdAt']);
}

describeOnDynamoDbEmulators('the reference app', ({ start }) => {
  let emulator: Awaited<ReturnType<typeof start>>;
  beforeEach(async () => {
    emulator = await start();
  }, 300_000);
  afterEach(() => emulator.stop());

  test(
    'runs its sample with multi-attribute keys',
    async () => {
      const stack = await startLocal({ app, dynamodbEndpoint: emulator.endpoint });
      try {
        await expectMultiAttributeKeys(stack);
        const printed: string[] = [];
        await runSample(stack, { input: [], print: (line) => printed.push(line) });
        expect(printed.join('\n')).toContain(OF_THE_SAMPLE);
      } finally {
        await stack.stop();
      }
    },
    AN_HOUR,
  );

  test(
    'runs from the command line with --dynamodb-endpoint and --kinesis-endpoint',
    async () => {
      const kinesis = await startKinesisEmulator();
      const endpoints = ['--dynamodb-endpoint', emulator.endpoint, '--kinesis-endpoint', kinesis.endpoint];
      // The command runs asynchronously, because the emulator of Kinesis runs in a thread of this process.
      const { stdout, stderr } = await promisify(execFile)(process.execPath, [
        CLI,
        'local',
        '--app',
        app,
        ...endpoints,
      ]);
      await kinesis.stop();
      expect(stderr).toBe('');
      expect(stdout).toContain(`kinesis on ${kinesis.endpoint}, dynamodb on ${emulator.endpoint}`);
      expect(stdout).toContain(OF_THE_SAMPLE);
      expect(stdout).not.toContain('has the single-attribute layout here');
    },
    AN_HOUR,
  );
});
