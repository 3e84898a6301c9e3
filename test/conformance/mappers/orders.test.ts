import { execFile, spawnSync } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { startDynamoDbEmulator } from '../../../bin/local/emulators/dynamodb-emulator';
import { fanOutCount, findStrays, type ShardedIndexConfig } from '../../../lib/core';
import { describeWhere } from '../../support/describe-where';
import { PYTHON_NEEDED, pythonWith } from '../../support/fetched';
import { indexConfig } from '../../support/index-config';
import { createTable } from '../../support/sharded-tables';
import { DYNAMODB_EMULATORS, type DynamoDbEmulator } from '../dynamodb-emulators';

/**
 * Runs the examples of common mappers: `npm run conformance mappers`. Uses the single-attribute layout on dynalite,
 * and the multi-attribute layout on each installed emulator with multi-attribute keys. The first run installs the
 * mappers from the package.json of their folder.
 */

const EXAMPLES = join(__dirname, '../../../examples/mappers');

const npm = process.env.npm_execpath ?? 'npm';
const [command, ...first] = npm.endsWith('.js') ? [process.execPath, npm] : [npm];
/** Without `--install-links`, npm would link to this project, which contains the examples again, in an endless loop. */
const install = [
  ...first,
  'ci',
  '--prefix',
  EXAMPLES,
  '--ignore-scripts',
  '--legacy-peer-deps',
  '--install-links',
  '--no-audit',
  '--no-fund',
];
const isInstalled = spawnSync(command!, install, { stdio: 'ignore' }).status === 0;

const dynalite: DynamoDbEmulator = { name: 'dynalite', isInstalled: true, needs: '', start: startDynamoDbEmulator };
const MAPPERS = ['electro', 'toolbox', 'dynamoose'];
const LAYOUTS = [
  { keyLayout: 'single-attribute' as const, emulator: dynalite },
  ...DYNAMODB_EMULATORS.filter(({ isInstalled }) => isInstalled).map((emulator) => ({
    keyLayout: 'multi-attribute' as const,
    emulator,
  })),
].map((each) => ({ on: each.emulator.name, ...each }));
const CASES = LAYOUTS.flatMap((each) => MAPPERS.map((mapper) => ({ mapper, ...each })));
if (LAYOUTS.length === 1) console.log('SKIPPED: the multi-attribute layout needs dynoxide, or a JDK');

const python = pythonWith('mappers-pynamodb-6.1.0', ['-r', join(EXAMPLES, 'requirements.txt')], 'boto3, pynamodb');

const indexOfOrders = (changes: Partial<ShardedIndexConfig>): ShardedIndexConfig =>
  indexConfig({
    tableKey: ['pk', 'sk'],
    shardAttribute: 'byStatusShard',
    shards: { default: { write: 3, read: 3 }, byValue: { shipped: { write: 7, read: 7 } } },
    ...changes,
  });

async function withTable(endpoint: string, byStatus: ShardedIndexConfig): Promise<DynamoDB> {
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const dynamoDb = new DynamoDB({ region: 'us-east-1', credentials, endpoint });
  const isMulti = byStatus.keyLayout === 'multi-attribute';
  const indexKeys: Record<string, 'S' | 'N'> = isMulti ? { status: 'S', byStatusShard: 'N' } : { byStatusShard: 'S' };
  const sortKeys = Object.fromEntries(byStatus.sortKeyAttributes.map((name) => [name, 'S' as const]));
  await createTable(dynamoDb, byStatus, { pk: 'S', sk: 'S', ...indexKeys, ...sortKeys });
  return dynamoDb;
}

describeWhere(isInstalled, 'the npm registry').each(CASES)(
  'the orders of examples/mappers/$mapper-orders.js, $keyLayout, on $on',
  (each) => {
    const { mapper, keyLayout } = each;
    const byStatus = indexOfOrders({ tableName: `Orders-${mapper}-${keyLayout}`, keyLayout, sortKeyAttributes: [] });
    let emulator: Awaited<ReturnType<DynamoDbEmulator['start']>>;
    let dynamoDb: DynamoDB;

    beforeAll(async () => {
      emulator = await each.emulator.start();
      dynamoDb = await withTable(emulator.endpoint, byStatus);
      const play = [join(__dirname, 'play-orders.mjs'), emulator.endpoint, JSON.stringify(byStatus), mapper];
      await promisify(execFile)(process.execPath, play);
    }, 120_000);

    afterAll(async () => {
      dynamoDb?.destroy();
      await emulator?.stop();
    });

    test('a query finds orders by their status, in the shards that shardAttributes returns', async () => {
      expect((await fanOutCount(dynamoDb, byStatus, { value: 'placed' })).count).toBe(20);
      expect((await fanOutCount(dynamoDb, byStatus, { value: 'shipped' })).count).toBe(20);
      const { itemsScanned, strays } = await findStrays(dynamoDb, byStatus);
      expect(itemsScanned).toBe(40);
      expect(Object.values(strays).every((count) => count === 0)).toBe(true);
    });
  },
);

describeWhere(python !== undefined, PYTHON_NEEDED).each(LAYOUTS)(
  'the orders of examples/mappers/pynamodb_orders.py, $keyLayout, on $on',
  ({ keyLayout, ...each }) => {
    test('orders are in the shards that shardAttributes returns, and a query returns orders in pages, the newest first', async () => {
      const byStatus = indexOfOrders({ tableName: `Orders-pynamodb-${keyLayout}`, keyLayout });
      const emulator = await each.emulator.start();
      const dynamoDb = await withTable(emulator.endpoint, byStatus);
      try {
        const play = [join(__dirname, 'play_orders.py'), emulator.endpoint, JSON.stringify(byStatus)];
        const { stdout } = await promisify(execFile)(python!, play, {
          env: {
            ...process.env,
            PYTHONPATH: [EXAMPLES, join(EXAMPLES, '../other-languages/python')].join(delimiter),
            PYTHONDONTWRITEBYTECODE: '1',
            AWS_DEFAULT_REGION: 'us-east-1',
            AWS_ACCESS_KEY_ID: 'local',
            AWS_SECRET_ACCESS_KEY: 'local',
          },
        });
        const newest = Array.from({ length: 30 }, (_, age) => [`o-${29 - age}`, age < 20 ? 'fragile' : null]);
        expect(JSON.parse(stdout)).toEqual([newest.slice(0, 25), newest.slice(25)]);
        expect((await fanOutCount(dynamoDb, byStatus, { value: 'placed' })).count).toBe(10);
        expect(Object.values((await findStrays(dynamoDb, byStatus)).strays).every((count) => count === 0)).toBe(true);
      } finally {
        dynamoDb.destroy();
        await emulator.stop();
      }
    }, 120_000);
  },
);
