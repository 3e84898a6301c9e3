import type { ShardedConfig } from '../../lib/core/sharded-index/config/sharded-index-config';
import { LOCAL_REGION } from './assembly/emulated-types';
import { fittingItem } from './fitting-item';
import { LOCAL_CREDENTIALS } from './functions/lambda-environment';
import type { LocalStack } from './run-local';
import { shardedConfigs } from './sharded-configs';

/**
 * The lines of a program that writes an item to this run and queries the item. The program runs without changes in a
 * project that has this package and the clients of DynamoDB. Undefined for an app without a sharded index or table.
 */
export function firstProgram(stack: Pick<LocalStack, 'functions' | 'tables' | 'endpoints'>): string[] | undefined {
  const configs = shardedConfigs(stack).map(({ config }) => config);
  const config = configs.find((each) => !isAdaptive(each)) ?? configs[0];
  if (config === undefined) return undefined;
  const item = fittingItem(stack, [config], { n: 1, run: 'first-' });
  const fields = Object.entries(item).map(
    ([name, each]) => `${/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)}: ${literal(each)}`,
  );
  const value = config.valueAttribute === undefined ? '' : `value: ${literal(item[config.valueAttribute]!)}, `;
  const { accessKeyId, secretAccessKey } = LOCAL_CREDENTIALS;
  const credentials = `credentials: { accessKeyId: '${accessKeyId}', secretAccessKey: '${secretAccessKey}' }`;
  const [imports, index, toWrite, toRead] = isAdaptive(config) ? ADAPTIVE : FIXED;
  return [
    "import { DynamoDB } from '@aws-sdk/client-dynamodb';",
    "import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';",
    ...imports,
    "import { fanOutQuery, plainItem, shardAttributes } from 'cdk-even-shards/sharded-index';",
    `const config = ${JSON.stringify(config)};`,
    `const dynamoDb = new DynamoDB({ endpoint: '${stack.endpoints.dynamodb}', region: '${LOCAL_REGION}', ${credentials} });`,
    ...index,
    `const item = { ${fields.join(', ')} };`,
    `const Item = { ...item, ...shardAttributes(${toWrite}, item) };`,
    'await DynamoDBDocument.from(dynamoDb).put({ TableName: config.tableName, Item });',
    `const page = await fanOutQuery(dynamoDb, ${toRead}, { ${value}order: 'descending', limit: 10 });`,
    'console.log(page.items.map((each) => plainItem(each)));',
  ];
}

/**
 * The parts of a program that depend on the counts: its imports, the creation of the index, and the expressions for
 * writing and reading.
 */
type Naming = readonly [imports: readonly string[], index: readonly string[], toWrite: string, toRead: string];
const FIXED: Naming = [[], [], 'config', 'config'];
const ADAPTIVE: Naming = [
  ["import { AdaptiveIndex, DynamoDbShardCountReader } from 'cdk-even-shards/adaptive-counts';"],
  ['const index = new AdaptiveIndex(config, new DynamoDbShardCountReader(dynamoDb, config));'],
  'await index.forWriting()',
  'index',
];

function isAdaptive(config: ShardedConfig): boolean {
  return config.indexName !== undefined && config.adaptive !== undefined;
}

function literal(value: string | number | Uint8Array): string {
  return value instanceof Uint8Array
    ? `Buffer.from(${JSON.stringify(Buffer.from(value).toString())})`
    : JSON.stringify(value);
}
