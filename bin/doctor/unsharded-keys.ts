import type { CloudWatch } from '@aws-sdk/client-cloudwatch';
import type {
  DynamoDB,
  GlobalSecondaryIndexDescription,
  KeySchemaElement,
  TableDescription,
} from '@aws-sdk/client-dynamodb';
import type { Kinesis } from '@aws-sdk/client-kinesis';
import type { IndexKeyAttribute, KeyAttributeType } from '../../lib/core/sharded-index/config/index-rejections';
import { AccountError } from '../deployed-stack/account-error';
import { tableState } from '../deployed-stack/resource-state';
import type { DeployedResource, StackResources } from '../deployed-stack/stack-resources';
import { scalingOf, withLimits } from './capacity-limits';
import { readKeyReport } from './contributor-insights';
import type { Measured, TableOwner, UnshardedKey } from './observations';
import { sampleTable } from './table-sample';

/** The clients of the doctor. The doctor only reads. */
export interface DoctorClients {
  readonly kinesis: Kinesis;
  readonly dynamodb: DynamoDB;
  /** Absent in a local run, which has no Contributor Insights. */
  readonly cloudwatch?: Pick<CloudWatch, 'getInsightRuleReport'>;
}

export interface DoctorOptions {
  /** Whether to read all items of the tables, to find items that no query returns. */
  readonly scan: boolean;
  /** The endpoint of the tables, if they are not in the account. */
  readonly endpoint: string | undefined;
  readonly hours: number;
  /** The budget of a sample of each table without shards, in read units. Absent: read no item. */
  readonly sampleUnits?: number;
  /** The key attributes of an index that the user wants to add to the only table. */
  readonly wanted?: readonly IndexKeyAttribute[];
  onProgress(line: string): void;
}

/** The key of a table, unless its own key has shards, and the keys of its indexes without shards. */
export async function unshardedKeysOf(
  resource: DeployedResource,
  ofTable: StackResources['shardings'],
  clients: DoctorClients,
  options: DoctorOptions & { readonly measured: Measured; readonly isWithoutLibrary: boolean },
): Promise<UnshardedKey[]> {
  const { path, name: tableName, properties } = resource;
  const { measured, hours, sampleUnits, wanted, isWithoutLibrary } = options;
  const { table } = await tableState(clients, tableName);
  if (table === undefined) throw new AccountError(notFound(tableName));
  const key = keyAttributes(table, table.KeySchema);
  const [partitionKey = { name: 'id', type: 'S' } as const, sortKey] = key;
  const indexes = (table.GlobalSecondaryIndexes ?? []).filter(
    ({ IndexName }) => !ofTable.some(({ config }) => config.indexName === IndexName),
  );
  const isKeySharded = ofTable.some(({ config }) => config.indexName === undefined);
  const sample =
    sampleUnits === undefined ? undefined : await orReason(sampleTable(clients.dynamodb, tableName, sampleUnits));
  const common = {
    ...{ tableName, table: { id: idOf(path), partitionKey, ...(sortKey && { sortKey }) }, owner: ownerOf(resource) },
    ...(sample !== undefined && { sample }),
  };
  const withReport = async (unsharded: Omit<UnshardedKey, 'report'>): Promise<UnshardedKey> => {
    const { keyRange = 0 } = unsharded.throughput.writes.byCause;
    if (keyRange === 0 || clients.cloudwatch === undefined) return unsharded;
    const insights = { dynamodb: clients.dynamodb, cloudwatch: clients.cloudwatch };
    return { ...unsharded, report: await orReason(readKeyReport(insights, unsharded, hours, Date.now())) };
  };
  const keys: UnshardedKey[] = [];
  if (!isKeySharded) {
    keys.push(
      await withReport({
        ...common,
        ...{ path, key, itemKb: meanKb(table), ...warmOf(table) },
        throughput: withLimits(await measured.table({ path, name: tableName }), table, scalingOf(properties)),
        mustBeMeasured: isWithoutLibrary || ofTable.length > 0 || indexes.length > 0,
        ...(wanted && { wanted }),
      }),
    );
  }
  for (const index of indexes) {
    const indexName = index.IndexName!;
    keys.push(
      await withReport({
        ...common,
        ...{ path: `${path}/${indexName}`, indexName, key: keyAttributes(table, index.KeySchema) },
        ...{ itemKb: meanKb(index), ...warmOf(index) },
        throughput: withLimits(
          await measured.unshardedIndex(tableName, indexName),
          index,
          scalingOf(properties, indexName),
        ),
        mustBeMeasured: true,
      }),
    );
  }
  return keys;
}

function warmOf({ WarmThroughput }: Pick<TableDescription, 'WarmThroughput'>): { warmWriteUnits?: number } {
  const { WriteUnitsPerSecond } = WarmThroughput ?? {};
  return WriteUnitsPerSecond === undefined ? {} : { warmWriteUnits: WriteUnitsPerSecond };
}

/** The id of a construct: the end of its path. */
function idOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function ownerOf({ template }: DeployedResource): TableOwner {
  if (template === undefined) return 'unknown';
  if (!template.isOfCdk) return 'otherTemplate';
  return template.type === 'AWS::DynamoDB::GlobalTable' ? 'TableV2' : 'Table';
}

/** The result of an optional measurement, or why the account does not allow it. */
async function orReason<T>(result: Promise<T>): Promise<T | string> {
  try {
    return await result;
  } catch (error) {
    const { name, message } = error as Error;
    if (/AccessDenied|NotAuthorized|UnauthorizedOperation/.test(name)) return `access denied: ${message}`;
    throw error;
  }
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
