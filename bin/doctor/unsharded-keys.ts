import type { GlobalSecondaryIndexDescription, KeySchemaElement, TableDescription } from '@aws-sdk/client-dynamodb';
import type { IndexKeyAttribute, KeyAttributeType } from '../../lib/core/sharded-index/config/index-rejections';
import { AccountError } from '../deployed-stack/account-error';
import type { DeployedResource, StackResources } from '../deployed-stack/stack-resources';
import { scalingOf, withLimits } from './capacity-limits';
import { INSIGHT_ACTIONS, readKeyReport } from './contributor-insights';
import { describeTable, type Look } from './look';
import { type TableOwner, type UnshardedKey, unlessDenied } from './observations';
import { sampleTable } from './table-sample';

/** The key of a table, unless its own key has shards, and the keys of its indexes without shards. */
export async function unshardedKeysOf(
  resource: DeployedResource,
  ofTable: StackResources['shardings'],
  isWithoutLibrary: boolean,
  look: Look,
): Promise<UnshardedKey[]> {
  const { path, name: tableName } = resource;
  const described = await describeTable(look, path, tableName);
  if (described === undefined) return [];
  const { table } = described;
  if (table === undefined) throw new AccountError(notFound(tableName));
  const indexes = (table.GlobalSecondaryIndexes ?? []).filter(
    ({ IndexName }) => !ofTable.some(({ config }) => config.indexName === IndexName),
  );
  const common = await commonOf(resource, table, look);
  const keys: Omit<UnshardedKey, 'report'>[] = [];
  if (!ofTable.some(({ config }) => config.indexName === undefined)) {
    const mustBeMeasured = isWithoutLibrary || ofTable.length > 0 || indexes.length > 0;
    keys.push({ ...common, ...(await keyOfTable(resource, table, look)), mustBeMeasured });
  }
  for (const index of indexes) keys.push({ ...common, ...(await keyOfIndex(resource, table, index, look)) });
  const reported: UnshardedKey[] = [];
  for (const key of keys) reported.push(await withReport(key, look));
  return reported;
}

/** The parts that the keys of a table and of its indexes share, such as a sample of the table. */
async function commonOf(
  resource: DeployedResource,
  table: TableDescription,
  { clients: { dynamodb }, options: { sampleUnits }, measure }: Look,
) {
  const { path, name: tableName } = resource;
  const [partitionKey = { name: 'id', type: 'S' } as const, sortKey] = keyAttributes(table, table.KeySchema);
  const sampled = { tableName, partitionKey: partitionKey.name, hasSortKey: sortKey !== undefined };
  const sample =
    sampleUnits === undefined
      ? undefined
      : await measure(path, 'the sample of the table', ['dynamodb:Scan'], () =>
          sampleTable(dynamodb, sampled, sampleUnits),
        );
  return {
    tableName,
    table: { id: idOf(path), partitionKey, ...(sortKey && { sortKey }) },
    owner: ownerOf(resource),
    ...(sample !== undefined && { sample }),
  };
}

async function keyOfTable(
  { path, name, properties }: DeployedResource,
  table: TableDescription,
  { measured, options: { wanted } }: Look,
) {
  return {
    path,
    key: keyAttributes(table, table.KeySchema),
    itemKb: meanKb(table),
    ...warmOf(table),
    throughput: withLimits(await measured.table({ path, name }), table, scalingOf(properties)),
    ...(wanted && { wanted }),
  };
}

async function keyOfIndex(
  { path, name, properties }: DeployedResource,
  table: TableDescription,
  index: GlobalSecondaryIndexDescription,
  { measured }: Look,
) {
  const indexName = index.IndexName!;
  const throughput = await measured.unshardedIndex(name, indexName);
  return {
    path: `${path}/${indexName}`,
    indexName,
    key: keyAttributes(table, index.KeySchema),
    itemKb: meanKb(index),
    ...warmOf(index),
    throughput: withLimits(throughput, index, scalingOf(properties, indexName)),
    mustBeMeasured: true,
  };
}

/** Adds the most frequent keys of Contributor Insights to a key whose partitions are too hot. */
async function withReport(
  unsharded: Omit<UnshardedKey, 'report'>,
  { clients: { dynamodb, cloudwatch }, options: { hours } }: Look,
): Promise<UnshardedKey> {
  const { keyRange = 0 } = unsharded.throughput.writes.byCause;
  if (keyRange === 0 || cloudwatch === undefined) return unsharded;
  const report = await unlessDenied(INSIGHT_ACTIONS, async () => {
    const read = await readKeyReport({ dynamodb, cloudwatch }, unsharded, hours, Date.now());
    return typeof read === 'string' ? { why: read, change: turnOn(unsharded) } : read;
  });
  return { ...unsharded, report };
}

function warmOf({ WarmThroughput }: Pick<TableDescription, 'WarmThroughput'>): { warmWriteUnits?: number } {
  const { WriteUnitsPerSecond } = WarmThroughput ?? {};
  return WriteUnitsPerSecond === undefined ? {} : { warmWriteUnits: WriteUnitsPerSecond };
}

/** The id of a construct: the end of its path. */
export function idOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function ownerOf({ template }: DeployedResource): TableOwner {
  if (template === undefined) return 'unknown';
  if (!template.isOfCdk) return 'otherTemplate';
  return template.type === 'AWS::DynamoDB::GlobalTable' ? 'TableV2' : 'Table';
}

/** How to turn on the mode that lists throttled keys, or for an index the mode that lists all keys. */
function turnOn({ tableName, indexName }: Pick<UnshardedKey, 'tableName' | 'indexName'>): string {
  const mode = indexName === undefined ? 'THROTTLED_KEYS' : 'ACCESSED_AND_THROTTLED_KEYS';
  const index = indexName === undefined ? '' : ` --index-name ${indexName}`;
  return (
    `run \`aws dynamodb update-contributor-insights --table-name ${tableName}${index} --contributor-insights-action ENABLE ` +
    `--contributor-insights-mode ${mode}\`, wait for the next throttles, and run doctor again, or read a sample with --sample`
  );
}

function notFound(tableName: string): Error {
  const error = new Error(`there is no table ${tableName} in the account and the Region`);
  return Object.assign(error, { name: 'ResourceNotFoundException', $metadata: { httpStatusCode: 400 } });
}

/** The key attributes of a table or an index. */
function keyAttributes(
  { AttributeDefinitions = [] }: TableDescription,
  schema: readonly KeySchemaElement[] = [],
): IndexKeyAttribute[] {
  const typeOf = (name: string | undefined) =>
    AttributeDefinitions.find(({ AttributeName }) => AttributeName === name)?.AttributeType ?? 'S';
  return schema.map(({ AttributeName = '', KeyType }) => ({
    name: AttributeName,
    type: typeOf(AttributeName) as KeyAttributeType,
    role: KeyType === 'HASH' ? 'partition' : 'sort',
  }));
}

/** The mean size of an item or of an index entry in kilobytes. DynamoDB updates the counts about every six hours. */
function meanKb(
  described: Pick<
    TableDescription & GlobalSecondaryIndexDescription,
    'ItemCount' | 'TableSizeBytes' | 'IndexSizeBytes'
  >,
): number {
  const { ItemCount = 0, TableSizeBytes, IndexSizeBytes } = described;
  const bytes = IndexSizeBytes ?? TableSizeBytes ?? 0;
  return ItemCount > 0 && bytes > 0 ? bytes / ItemCount / 1_024 : 1;
}
