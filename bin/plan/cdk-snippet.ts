import type { IndexPlan } from '../../lib/core/planning/plan-index';
import type { ShardFormat } from '../../lib/core/sharding/shard-format';
import { CdkCode, type Language } from './code-language';

/** The number of shards of an index or a table, and of each value. */
export interface ShardNumbers extends Pick<IndexPlan, 'shards' | 'byValue'> {
  /** Whether the values are names of variables. The code does not compile until the user has replaced the names. */
  readonly hasVariables?: boolean;
}

/** An attribute of a key in the printed code. */
interface CodeAttribute {
  readonly name: string;
  readonly type: 'S' | 'N' | 'B';
}

/** The table in the printed code. Its id and its keys are examples, unless the command knows the table. */
export interface CodeTable {
  readonly id: string;
  readonly partitionKey: CodeAttribute;
  readonly sortKey?: CodeAttribute;
}

/** The index in the printed code, and its table. */
export interface CodeIndex {
  readonly table: CodeTable;
  readonly indexName: string;
  readonly value?: CodeAttribute;
  readonly sortKey?: CodeAttribute;
}

const ID: CodeAttribute = { name: 'id', type: 'S' };
const CREATED_AT: CodeAttribute = { name: 'createdAt', type: 'S' };

/** An index of an unknown table, with example names. */
export function exampleIndex(valueAttribute: string | undefined): CodeIndex {
  return {
    table: { id: 'Table', partitionKey: ID },
    indexName: valueAttribute === undefined ? 'byTime' : `by${upperFirst(valueAttribute)}`,
    ...(valueAttribute !== undefined && { value: { name: valueAttribute, type: 'S' } }),
    sortKey: CREATED_AT,
  };
}

/** An unknown table with this partition key. */
export function exampleTable(partitionKey: string): CodeTable {
  return { id: 'Table', partitionKey: { name: partitionKey, type: 'S' }, sortKey: ID };
}

/** CDK code of a planned stream. With balanced keys, a registry gives each owner its hash key. */
export function streamSnippet(shardCount: number, balanced: boolean, language: Language, id = 'Stream'): string[] {
  const code = CdkCode.in(language);
  const stream = { shardCount: String(shardCount) };
  if (!balanced) {
    return indented([
      ...code.language.imports({ library: ['UniformStream'] }),
      '',
      ...code.constructStatement('UniformStream', id, stream),
    ]);
  }
  return indented([
    ...code.language.imports({ library: ['HashKeyRegistry', 'OrderedProducerFunction', 'UniformStream'] }),
    '',
    ...code.constructStatement('UniformStream', id, stream, 'stream'),
    code.language.comment('it gives each key a hash key; allocate a busy key with its records a second as its weight'),
    ...code.constructStatement('HashKeyRegistry', 'HashKeys', { stream: 'stream' }, 'registry'),
    ...code.constructStatement('OrderedProducerFunction', 'Producer', {
      stream: 'stream',
      hashKeyRegistry: 'registry',
    }),
  ]);
}

/** CDK code of a stream with even shards, which stay even. */
export function evenStreamSnippet(id: string, shardCount: number, language: Language): string[] {
  const code = CdkCode.in(language);
  const addReconciliation = `stream.${code.language.method('addReconciliation')}`;
  return indented([
    ...code.language.imports({ library: ['UniformStream'] }),
    '',
    ...code.constructStatement('UniformStream', id, { shardCount: String(shardCount) }, 'stream'),
    ...code.callStatement(addReconciliation, 'StreamReconciliationOptions', { repair: code.language.yes }),
  ]);
}

/** CDK code of a planned index. */
export function indexSnippet(
  plan: ShardNumbers,
  index: CodeIndex,
  language: Language,
  shardFormat: ShardFormat = {},
): string[] {
  const code = CdkCode.in(language);
  const format = formatOfIndex(code, shardFormat);
  return indented([
    ...code.language.imports({ library: ['ShardCounts', 'ShardedTable', ...format.enums], ...KEYS, java: ['Map'] }),
    '',
    ...tableOf(code, index.table),
    ...code.callStatement(`table.${code.language.method('addShardedIndex')}`, 'ShardedIndexOptions', {
      ...indexProperties(code, index),
      shardCounts: shardCounts(code, plan),
      ...format.properties,
    }),
  ]);
}

/** CDK code that imports an index and its table. The owner of the table adds the index. */
export function importedIndexSnippet(
  plan: ShardNumbers,
  index: CodeIndex,
  tableName: string,
  language: Language,
): string[] {
  const code = CdkCode.in(language);
  const { id, partitionKey, sortKey } = index.table;
  const tableKey = [partitionKey, ...(sortKey === undefined ? [] : [sortKey])].map(({ name }) =>
    code.language.text(name),
  );
  const { indexName, valueAttribute, sortKey: sortKeyOfIndex } = indexProperties(code, index);
  const table = `TableV2.${code.language.method('fromTableName')}(${code.language.scope}, ${code.language.text(id)}, ${code.language.text(tableName)})`;
  const method = `ShardedIndex.${code.language.method('fromShardedIndexAttributes')}`;
  const properties = {
    table,
    tableKey: code.language.list(tableKey),
    indexName,
    valueAttribute,
    shardAttribute: code.language.text(`${index.indexName}Shard`),
    sortKey: sortKeyOfIndex,
    shardCounts: shardCounts(code, plan),
  };
  const variable = { name: 'index', type: 'IShardedIndex' };
  return indented([
    ...code.language.imports({
      library: ['ShardCounts', 'ShardedIndex'],
      dynamodb: [...KEYS.dynamodb, 'TableV2'],
      dynamodbStructs: KEYS.dynamodbStructs,
      java: ['List', 'Map'],
    }),
    '',
    code.language.comment(keysOfOwner(index)),
    ...code.callStatement(method, 'ShardedIndexAttributes', properties, variable),
  ]);
}

/**
 * CDK code of an index by values with unknown shares. The counts are adaptive: the count of each value can grow up to the planned number of shards.
 */
export function adaptiveIndexSnippet(
  { shards }: ShardNumbers,
  language: Language,
  shardFormat: ShardFormat = {},
): string[] {
  const code = CdkCode.in(language);
  const index = exampleIndex('value');
  const format = formatOfIndex(code, shardFormat);
  const properties = {
    ...indexProperties(code, index),
    shardCounts: code.call('ShardCounts.adaptive', 'AdaptiveShardCountsOptions', { maximum: String(shards) }),
    ...format.properties,
  };
  const variable = { name: 'index', type: 'ShardedIndex' };
  const library = ['AdaptiveShardCountController', 'ShardCounts', 'ShardedTable', ...format.enums];
  return indented([
    ...code.language.imports({ library, ...KEYS }),
    '',
    ...tableOf(code, index.table),
    ...code.callStatement(
      `table.${code.language.method('addShardedIndex')}`,
      'ShardedIndexOptions',
      properties,
      variable,
    ),
    ...code.constructStatement('AdaptiveShardCountController', 'Controller', { index: 'index' }),
  ]);
}

/** CDK code of a table that is sharded by its own key, for a hot partition key. */
export function tableSnippet(
  plan: ShardNumbers,
  { id, partitionKey, sortKey }: CodeTable,
  language: Language,
  shardFormat: ShardFormat = {},
): string[] {
  const code = CdkCode.in(language);
  const format = formatCode(code, shardFormat);
  return indented([
    ...code.language.imports({ library: ['KeyShardedTable', 'ShardCounts', ...format.enums], ...KEYS, java: ['Map'] }),
    '',
    ...code.constructStatement('KeyShardedTable', id, {
      partitionKey: attribute(code, partitionKey),
      sortKey: sortKey && attribute(code, sortKey),
      shardCounts: shardCounts(code, plan),
      ...format.properties,
    }),
  ]);
}

/** CDK code of a table of Amazon Keyspaces with the planned shards. */
export function keyspacesSnippet(plan: ShardNumbers, language: Language, shardFormat: ShardFormat = {}): string[] {
  const code = CdkCode.in(language);
  const column = (struct: string, name: string) =>
    code.language.list([code.struct(struct, { name: code.language.text(name), cqlType: 'CqlType.TEXT' })]);
  const structs = ['KeyspacesClusteringColumn', 'KeyspacesColumn'] as const;
  return indented([
    ...code.language.imports({
      library: ['CqlType', 'ShardCounts', 'ShardedKeyspacesTable'],
      libraryStructs: structs,
      java: ['List', 'Map'],
    }),
    '',
    ...code.constructStatement('ShardedKeyspacesTable', 'Table', {
      keyspaceName: code.language.text('keyspace'),
      tableName: code.language.text('table'),
      partitionKey: column('KeyspacesColumn', 'value'),
      clusteringColumns: column('KeyspacesClusteringColumn', 'id'),
      shardCounts: shardCounts(code, plan),
      ...formatCode(code, shardFormat).properties,
    }),
  ]);
}

/** The classes of the keys of a table or an index. */
const KEYS = { dynamodb: ['AttributeType'], dynamodbStructs: ['Attribute'] } as const;

const TYPES = { S: 'STRING', N: 'NUMBER', B: 'BINARY' } as const;

function attribute(code: CdkCode, { name, type }: CodeAttribute): string {
  return code.struct('Attribute', { name: code.language.text(name), type: `AttributeType.${TYPES[type]}` });
}

function tableOf(code: CdkCode, { id, partitionKey, sortKey }: CodeTable): string[] {
  const keys = { partitionKey: attribute(code, partitionKey), sortKey: sortKey && attribute(code, sortKey) };
  return code.constructStatement('ShardedTable', id, keys, 'table');
}

function indexProperties(code: CdkCode, { indexName, value, sortKey }: CodeIndex) {
  return {
    indexName: code.language.text(indexName),
    valueAttribute: value && attribute(code, value),
    sortKey: sortKey && attribute(code, sortKey),
  };
}

/** The comment of an imported index: its keys in the table of the owner. */
function keysOfOwner({ indexName, value, sortKey }: CodeIndex): string {
  const shard = `${indexName}Shard (N)`;
  const partition = value === undefined ? shard : `${value.name} (${value.type}) and ${shard}`;
  const sorted = sortKey === undefined ? '' : `, and the sort key ${sortKey.name} (${sortKey.type})`;
  return `the owner of the table first adds ${indexName}, with the partition key ${partition}${sorted}`;
}

/** The code of a shard format: the enums to import, and the properties. */
interface FormatCode {
  readonly enums: readonly string[];
  readonly properties: Readonly<Record<string, string | undefined>>;
}

/** Whether the shard and the value are in one attribute. */
export function isInOneAttribute({ separator, shardWidth, shardPlacement }: ShardFormat): boolean {
  return [separator, shardWidth, shardPlacement].some((part) => part !== undefined);
}

function formatOfIndex(code: CdkCode, shardFormat: ShardFormat): FormatCode {
  const { enums, properties } = formatCode(code, shardFormat);
  if (!isInOneAttribute(shardFormat)) return { enums, properties };
  return { enums: ['KeyLayout', ...enums], properties: { keyLayout: 'KeyLayout.SINGLE_ATTRIBUTE', ...properties } };
}

function formatCode(code: CdkCode, { firstShard, separator, shardWidth, shardPlacement }: ShardFormat): FormatCode {
  return {
    enums: shardPlacement === undefined ? [] : ['ShardPlacement'],
    properties: {
      firstShard: firstShard?.toString(),
      separator: separator === undefined ? undefined : code.language.text(separator),
      shardWidth: shardWidth?.toString(),
      shardPlacement: shardPlacement && `ShardPlacement.${shardPlacement.toUpperCase()}`,
    },
  };
}

/** The counts of the values that have more than one shard, or one count if all values have the same. */
function shardCounts(code: CdkCode, { shards, byValue, hasVariables }: ShardNumbers): string {
  if (byValue === undefined) return `ShardCounts.uniform(${shards})`;
  const counts = Object.entries(byValue).filter(([, count]) => count > 1);
  if (counts.length === 0) return 'ShardCounts.uniform(1)';
  return code.language.countsByValue(
    counts.map(([value, count]) => [hasVariables ? value : code.language.text(value), count]),
  );
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => (line === '' ? '' : `  ${line}`));
}

function upperFirst(name: string): string {
  const letters = name.replace(/[^a-zA-Z0-9_.-]/g, '');
  return letters.charAt(0).toUpperCase() + letters.slice(1);
}
