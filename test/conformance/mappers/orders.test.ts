import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { startDynamoDbEmulator } from '../../../bin/local/emulators/dynamodb-emulator';
import { fanOutCount, findStrays } from '../../../lib/core';
import { indexConfig } from '../../support/index-config';
import { createTable } from '../../support/sharded-tables';
import { DYNAMODB_EMULATORS, type DynamoDbEmulator } from '../dynamodb-emulators';

/**
 * The examples for the mappers that people use: `npm run conformance mappers`. In the single-attribute layout on dynalite, and in the
 * multi-attribute one on each emulator that has such keys and is installed. The mappers have a manifest of their own, and are
 * installed the first time.
 */

const EXAMPLES = join(__dirname, '../../../examples/mappers');

const npm = process.env.npm_execpath ?? 'npm';
const [command, ...first] = npm.endsWith('.js') ? [process.execPath, npm] : [npm];
const install = [
  ...first,
  'ci',
  '--prefix',
  EXAMPLES,
  '--ignore-scripts',
  '--legacy-peer-deps',
  '--no-audit',
  '--no-fund',
];
const isInstalled = spawnSync(command!, install, { stdio: 'ignore' }).status === 0;
if (!isInstalled) console.log('SKIPPED: conformance with mappers needs the npm registry');
const describeIf = isInstalled ? describe : describe.skip;

const dynalite: DynamoDbEmulator = { name: 'dynalite', isInstalled: true, needs: '', start: startDynamoDbEmulator };
const MAPPERS = ['electro', 'toolbox', 'dynamoose'];
const CASES = [
  { keyLayout: 'single-attribute' as const, emulator: dynalite },
  ...DYNAMODB_EMULATORS.filter(({ isInstalled }) => isInstalled).map((emulator) => ({
    keyLayout: 'multi-attribute' as const,
    emulator,
  })),
].flatMap((each) => MAPPERS.map((mapper) => ({ mapper, on: each.emulator.name, ...each })));
if (CASES.length === MAPPERS.length) console.log('SKIPPED: the multi-attribute layout needs dynoxide, or a JDK');

describeIf.each(CASES)('the orders of examples/mappers/$mapper-orders.js, $keyLayout, on $on', (each) => {
  const { mapper, keyLayout } = each;
  const byStatus = indexConfig({
    tableName: `Orders-${mapper}-${keyLayout}`,
    tableKey: ['pk', 'sk'],
    keyLayout,
    shardAttribute: 'byStatusShard',
    sortKeyAttributes: [],
    shards: { default: { write: 3, read: 3 }, byValue: { shipped: { write: 7, read: 7 } } },
  });
  let emulator: Awaited<ReturnType<DynamoDbEmulator['start']>>;
  let dynamoDb: DynamoDB;

  beforeAll(async () => {
    emulator = await each.emulator.start();
    const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
    dynamoDb = new DynamoDB({ region: 'us-east-1', credentials, endpoint: emulator.endpoint });
    const isMulti = keyLayout === 'multi-attribute';
    const indexKeys: Record<string, 'S' | 'N'> = isMulti ? { status: 'S', byStatusShard: 'N' } : { byStatusShard: 'S' };
    await createTable(dynamoDb, byStatus, { pk: 'S', sk: 'S', ...indexKeys });
    const play = [join(__dirname, 'play-orders.mjs'), emulator.endpoint, JSON.stringify(byStatus), mapper];
    await promisify(execFile)(process.execPath, play);
  }, 120_000);

  afterAll(async () => {
    dynamoDb?.destroy();
    await emulator?.stop();
  });

  test('are found by their status, in the shards that the library would have given them', async () => {
    expect((await fanOutCount(dynamoDb, byStatus, { value: 'placed' })).count).toBe(20);
    expect((await fanOutCount(dynamoDb, byStatus, { value: 'shipped' })).count).toBe(20);
    const { itemsScanned, strays } = await findStrays(dynamoDb, byStatus);
    expect(itemsScanned).toBe(40);
    expect(Object.values(strays).every((count) => count === 0)).toBe(true);
  });
});
