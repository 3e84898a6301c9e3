import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { startDynamoDbEmulator } from '../../../bin/local/dynamodb-emulator';
import type { Emulator } from '../../../bin/local/emulator-thread';
import { fanOutCount, findStrays, type ShardedIndexConfig } from '../../../lib/core';
import { createTable } from '../sharded-tables';

/**
 * The examples for the mappers that people use, on dynalite: `npm run conformance mappers`. The mappers have a manifest of their
 * own, and are installed the first time.
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

describeIf.each(['electro', 'toolbox'])('the orders of examples/mappers/%s-orders.js', (mapper) => {
  const byStatus: ShardedIndexConfig = {
    tableName: `Orders-${mapper}`,
    indexName: 'byStatus',
    tableKey: ['pk', 'sk'],
    keyLayout: 'single-attribute',
    valueAttribute: 'status',
    shardAttribute: 'byStatusShard',
    sortKeyAttributes: [],
    shards: { default: { write: 3, read: 3 }, byValue: { shipped: { write: 7, read: 7 } } },
    strategy: 'calculated',
  };
  let emulator: Emulator;
  let dynamoDb: DynamoDB;

  beforeAll(async () => {
    emulator = await startDynamoDbEmulator();
    const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
    dynamoDb = new DynamoDB({ region: 'us-east-1', credentials, endpoint: emulator.endpoint });
    await createTable(dynamoDb, byStatus, { pk: 'S', sk: 'S', byStatusShard: 'S' });
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
