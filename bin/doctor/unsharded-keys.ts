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
import { INSIGHT_ACTIONS, readKeyReport } from './contributor-insights';
import { type Measured, type Missing, type TableOwner, type UnshardedKey, unlessDenied } from './observations';
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

/** Measures something. If the account does not allow the actions, reports what is missing, and returns undefined. */
export type Measure = <T extends object>(
  path: string,
  noun: string,
  actions: readonly string[],
  read: () => Promise<T | Missing>,
) => Promise<T | undefined>;

/** The key of a table, unless its own key has shards, and the keys of its indexes without shards. */
export async function unshardedKeysOf(
  resource: DeployedResource,
  ofTable: StackResources['shardings'],
  clients: DoctorClients,
  options: DoctorOptions & {
    readonly measured: Measured;
    readonly isWithoutLibrary: boolean;
    readonly measure: Measure;
  },
): Promise<UnshardedKey[]> {
  const { path, name: tableName, properties } = resource;
  const { measured, hours, sampleUnits, wanted, isWithoutLibrary, measure } = options;
  const described = await describeTable(measure, path, clients.dynamodb, tableName);
  if (described === undefined) return [];
  const { table } = described;
  if (table === undefined) throw new AccountError(notFound(tableName));
  const key = keyAttributes(table, table.KeySchema);
  const [partitionKey = { name: 'id', type: 'S' } as const, sortKey] = key;
  const indexes = (table.GlobalSecondaryIndexes ?? []).filter(
    ({ IndexName }) => !ofTable.some(({ config }) => config.indexName === IndexName),
  );
  const isKeySharded = ofTable.some(({ config }) => config.indexName === undefined);
  const sample =
    sampleUnits === undefined
      ? undefined
      : await measure(path, 'the sample of the table', ['dynamodb:Scan'], () =>
          sampleTable(
            clients.dynamodb,
            { tableName, partitionKey: partitionKey.name, hasSortKey: sortKey !== undefined },
            sampleUnits,
          ),
        );
  const common = {
    tableName,
    table: { id: idOf(path), partitionKey, ...(sortKey && { sortKey }) },
    owner: ownerOf(resource),
    ...(sample !== undefined && { sample }),
  };
  const withReport = async (unsharded: Omit<UnshardedKey, 'report'>): Promise<UnshardedKey> => {
    const { keyRange = 0 } = unsharded.throughput.writes.byCause;
    if (keyRange === 0 || clients.cloudwatch === undefined) return unsharded;
    const insights = { dynamodb: clients.dynamodb, cloudwatch: clients.cloudwatch };
    const report = await unlessDenied(INSIGHT_ACTIONS, async () => {
      const read = await readKeyReport(insights, unsharded, hours, Date.now());
      return typeof read === 'string' ? { why: read, change: turnOn(unsharded) } : read;
    });
    return { ...unsharded, report };
  };
  const keys: UnshardedKey[] = [];
  if (!isKeySharded) {
    keys.push(
      await withReport({
        ...common,
        path,
        key,
        itemKb: meanKb(table),
        ...warmOf(table),
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
        path: `${path}/${indexName}`,
        indexName,
        key: keyAttributes(table, index.KeySchema),
        itemKb: meanKb(index),
        ...warmOf(index),
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

/** Undefined if the account does not allow it. Without a description, the keys and the limits are not known. */
export function describeTable(
  measure: Measure,
  path: string,
  dynamodb: Pick<DynamoDB, 'describeTable'>,
  tableName: string,
): Promise<{ table?: TableDescription | undefined } | undefined> {
  return measure(path, 'the keys and the limits', ['dynamodb:DescribeTable'], () =>
    tableState({ dynamodb }, tableName),
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
