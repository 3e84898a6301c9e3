import { rmSync } from 'node:fs';
import { startLocal } from '../../bin/local/run-local';
import { runSample } from '../../bin/local/sample';
import { indexConfig, synthesizeReferenceApp } from '../integration/reference-app';
import { startDynamoDbLocal } from './dynamodb-local';
import { DYNOXIDE, startDynoxide } from './dynoxide';

/** The reference app as it is deployed, on emulators that have multi-attribute keys. */
const EMULATORS = [
  ['DynamoDB Local', startDynamoDbLocal, true],
  ['dynoxide', startDynoxide, process.env[DYNOXIDE] !== undefined],
] as const;

test.each(EMULATORS.filter(([, , isInstalled]) => isInstalled))(
  'the reference app runs with multi-attribute keys on %s',
  async (_, start) => {
    const app = synthesizeReferenceApp();
    const emulator = await start();
    const stack = await startLocal({ app, dynamodbEndpoint: emulator.endpoint });
    try {
      const config = indexConfig(stack, 'byStatus');
      expect(config.keyLayout).toBe('multi-attribute');
      const { Table } = await stack.clients.dynamodb.describeTable({ TableName: config.tableName });
      const index = Table!.GlobalSecondaryIndexes!.find(({ IndexName }) => IndexName === 'byStatus')!;
      expect(index.KeySchema!.map(({ AttributeName }) => AttributeName)).toEqual([
        'status',
        'byStatusShard',
        'createdAt',
      ]);

      const printed: string[] = [];
      await runSample(stack, { input: [], print: (line) => printed.push(line) });
      expect(printed.join('\n')).toContain('2. 1000 jobs, of each status as many as its shards of byStatus are for');
    } finally {
      await stack.stop();
      await emulator.stop();
      rmSync(app, { recursive: true, force: true });
    }
  },
  600_000,
);
