import type { IndexPlan } from '../../lib/core/planning/plan-index';
import type { ShardFormat } from '../../lib/core/sharding/shard-format';
import { UsageError } from '../flags';

/** The number of shards of an index or a table, and of each value. */
export interface ShardNumbers extends Pick<IndexPlan, 'shards' | 'byValue'> {
  /** Whether the values are names of variables. The code does not compile until the user has replaced the names. */
  readonly hasVariables?: boolean;
}

/** The languages of the printed code. */
const LANGUAGES = ['typescript', 'python', 'java'] as const;
export type Language = (typeof LANGUAGES)[number];

/** @throws UsageError if no code can be printed in this language */
export function languageOf(command: string, name: string = LANGUAGES[0]): Language {
  const language = LANGUAGES.find((each) => each === name);
  if (language !== undefined) return language;
  throw new UsageError(`--language must be one of ${LANGUAGES.join(', ')}, got "${name}"`, command);
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

const TYPES = { S: 'STRING', N: 'NUMBER', B: 'BINARY' } as const;

/** CDK code of a planned stream. With balanced keys, a registry gives each owner its hash key. */
export function streamSnippet(shardCount: number, balanced: boolean, language: Language, id = 'Stream'): string[] {
  return indented((balanced ? BALANCED_STREAM : STREAM)[language](id, shardCount));
}

/** CDK code of a stream with even shards, which stay even. */
export function evenStreamSnippet(id: string, shardCount: number, language: Language): string[] {
  return indented(EVEN_STREAM[language](id, shardCount));
}

/** CDK code of a planned index. */
export function indexSnippet(
  plan: ShardNumbers,
  index: CodeIndex,
  language: Language,
  shardFormat: ShardFormat = {},
): string[] {
  return indented(INDEX[language](index, plan, shardFormatCode(shardFormat, true)));
}

/** CDK code that imports an index and its table. The owner of the table adds the index. */
export function importedIndexSnippet(
  plan: ShardNumbers,
  index: CodeIndex,
  tableName: string,
  language: Language,
): string[] {
  return indented(IMPORTED_INDEX[language](index, tableName, plan));
}

/**
 * CDK code of an index by values with unknown shares. The counts are adaptive: the count of each value can grow up to the planned number of shards.
 */
export function adaptiveIndexSnippet(
  { shards }: ShardNumbers,
  language: Language,
  shardFormat: ShardFormat = {},
): string[] {
  return indented(ADAPTIVE_INDEX[language](shards, shardFormatCode(shardFormat, true)));
}

/** CDK code of a table that is sharded by its own key, for a hot partition key. */
export function tableSnippet(
  plan: ShardNumbers,
  table: CodeTable,
  language: Language,
  shardFormat: ShardFormat = {},
): string[] {
  return indented(TABLE[language](table, plan, shardFormatCode(shardFormat, false)));
}

/** CDK code of a table of Amazon Keyspaces with the planned shards. */
export function keyspacesSnippet(plan: ShardNumbers, language: Language, shardFormat: ShardFormat = {}): string[] {
  return indented(KEYSPACES[language](plan, shardFormatCode(shardFormat, false)));
}

/** The code of a shard format: the enums to import, and each option with its value. */
interface ShardFormatCode {
  readonly enums: readonly string[];
  readonly options: readonly (readonly [name: string, value: string])[];
}

/** Whether the shard and the value are in one attribute. */
export function isInOneAttribute({ separator, shardWidth, shardPlacement }: ShardFormat): boolean {
  return [separator, shardWidth, shardPlacement].some((part) => part !== undefined);
}

function shardFormatCode(shardFormat: ShardFormat, isOfIndex: boolean): ShardFormatCode {
  const { firstShard, separator, shardWidth, shardPlacement } = shardFormat;
  const isLayout = isOfIndex && isInOneAttribute(shardFormat);
  const options = [
    ...(isLayout ? [['keyLayout', 'KeyLayout.SINGLE_ATTRIBUTE'] as const] : []),
    ...(firstShard === undefined ? [] : [['firstShard', String(firstShard)] as const]),
    ...(separator === undefined ? [] : [['separator', JSON.stringify(separator)] as const]),
    ...(shardWidth === undefined ? [] : [['shardWidth', String(shardWidth)] as const]),
    ...(shardPlacement === undefined
      ? []
      : [['shardPlacement', `ShardPlacement.${shardPlacement.toUpperCase()}`] as const]),
  ];
  const enums = [...(isLayout ? ['KeyLayout'] : []), ...(shardPlacement === undefined ? [] : ['ShardPlacement'])];
  return { enums, options };
}

const typescriptOptions = ({ options }: ShardFormatCode): string[] =>
  options.map(([name, value]) => `  ${name}: ${value.startsWith('"') ? quoted(JSON.parse(value)) : value},`);

const pythonOptions = ({ options }: ShardFormatCode): string[] =>
  options.map(([name, value]) => `    ${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}=${value},`);

const javaOptions = ({ options }: ShardFormatCode): string[] =>
  options.map(([name, value]) => `    .${name}(${value})`);

/** The names to import, in alphabetical order. */
const names = ({ enums }: ShardFormatCode, ...others: string[]): string => [...others, ...enums].sort().join(', ');

type Snippet<Parts extends unknown[]> = Record<Language, (...parts: Parts) => string[]>;

const STREAM: Snippet<[id: string, shardCount: number]> = {
  typescript: (id, shards) => [
    "import { UniformStream } from 'cdk-even-shards';",
    '',
    `new UniformStream(this, ${quoted(id)}, { shardCount: ${shards} });`,
  ],
  python: (id, shards) => [
    'from cdk_even_shards import UniformStream',
    '',
    `UniformStream(self, ${JSON.stringify(id)}, shard_count=${shards})`,
  ],
  java: (id, shards) => [
    'import io.github.cdkevenshards.UniformStream;',
    '',
    `UniformStream.Builder.create(this, ${JSON.stringify(id)}).shardCount(${shards}).build();`,
  ],
};

const EVEN_STREAM: Snippet<[id: string, shardCount: number]> = {
  typescript: (id, shards) => [
    "import { UniformStream } from 'cdk-even-shards';",
    '',
    `const stream = new UniformStream(this, ${quoted(id)}, { shardCount: ${shards} });`,
    'stream.addReconciliation({ repair: true });',
  ],
  python: (id, shards) => [
    'from cdk_even_shards import UniformStream',
    '',
    `stream = UniformStream(self, ${JSON.stringify(id)}, shard_count=${shards})`,
    'stream.add_reconciliation(repair=True)',
  ],
  java: (id, shards) => [
    'import io.github.cdkevenshards.*;',
    '',
    `UniformStream stream = UniformStream.Builder.create(this, ${JSON.stringify(id)}).shardCount(${shards}).build();`,
    'stream.addReconciliation(StreamReconciliationOptions.builder().repair(true).build());',
  ],
};

const BALANCED_STREAM: Snippet<[id: string, shardCount: number]> = {
  typescript: (id, shards) => [
    "import { HashKeyRegistry, OrderedProducerFunction, UniformStream } from 'cdk-even-shards';",
    '',
    `const stream = new UniformStream(this, ${quoted(id)}, { shardCount: ${shards} });`,
    '// it gives each key a hash key; allocate a busy key with its records a second as its weight',
    "const hashKeyRegistry = new HashKeyRegistry(this, 'HashKeys', { stream });",
    "new OrderedProducerFunction(this, 'Producer', { stream, hashKeyRegistry });",
  ],
  python: (id, shards) => [
    'from cdk_even_shards import HashKeyRegistry, OrderedProducerFunction, UniformStream',
    '',
    `stream = UniformStream(self, ${JSON.stringify(id)}, shard_count=${shards})`,
    '# it gives each key a hash key; allocate a busy key with its records a second as its weight',
    'registry = HashKeyRegistry(self, "HashKeys", stream=stream)',
    'OrderedProducerFunction(self, "Producer", stream=stream, hash_key_registry=registry)',
  ],
  java: (id, shards) => [
    'import io.github.cdkevenshards.*;',
    '',
    `UniformStream stream = UniformStream.Builder.create(this, ${JSON.stringify(id)}).shardCount(${shards}).build();`,
    '// it gives each key a hash key; allocate a busy key with its records a second as its weight',
    'HashKeyRegistry registry = HashKeyRegistry.Builder.create(this, "HashKeys").stream(stream).build();',
    'OrderedProducerFunction.Builder.create(this, "Producer").stream(stream).hashKeyRegistry(registry).build();',
  ],
};

const typescriptAttribute = ({ name, type }: CodeAttribute): string =>
  `{ name: ${quoted(name)}, type: AttributeType.${TYPES[type]} }`;

const pythonAttribute = ({ name, type }: CodeAttribute): string =>
  `Attribute(name=${JSON.stringify(name)}, type=AttributeType.${TYPES[type]})`;

const javaAttribute = ({ name, type }: CodeAttribute): string =>
  `Attribute.builder().name(${JSON.stringify(name)}).type(AttributeType.${TYPES[type]}).build()`;

/** The lines that create the table of an index. */
const TABLE_OF_INDEX: Snippet<[CodeTable]> = {
  typescript: ({ id, partitionKey, sortKey }) => {
    const start = `const table = new ShardedTable(this, ${quoted(id)}, {`;
    if (sortKey === undefined) return [`${start} partitionKey: ${typescriptAttribute(partitionKey)} });`];
    const keys = [
      `  partitionKey: ${typescriptAttribute(partitionKey)},`,
      `  sortKey: ${typescriptAttribute(sortKey)},`,
    ];
    return [start, ...keys, '});'];
  },
  python: ({ id, partitionKey, sortKey }) => {
    const start = `table = ShardedTable(self, ${JSON.stringify(id)},`;
    if (sortKey === undefined) return [`${start} partition_key=${pythonAttribute(partitionKey)})`];
    const keys = [`    partition_key=${pythonAttribute(partitionKey)},`, `    sort_key=${pythonAttribute(sortKey)},`];
    return [start, ...keys, ')'];
  },
  java: ({ id, partitionKey, sortKey }) => [
    `Attribute partitionKey = ${javaAttribute(partitionKey)};`,
    ...optional(sortKey, (key) => `Attribute sortKey = ${javaAttribute(key)};`),
    `ShardedTable table = ShardedTable.Builder.create(this, ${JSON.stringify(id)}).partitionKey(partitionKey)${sortKey === undefined ? '' : '.sortKey(sortKey)'}.build();`,
  ],
};

const INDEX: Snippet<[index: CodeIndex, plan: ShardNumbers, shardFormat: ShardFormatCode]> = {
  typescript: ({ table, indexName, value, sortKey }, plan, shardFormat) => [
    "import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';",
    `import { ${names(shardFormat, 'ShardCounts', 'ShardedTable')} } from 'cdk-even-shards';`,
    '',
    ...TABLE_OF_INDEX.typescript(table),
    'table.addShardedIndex({',
    `  indexName: ${quoted(indexName)},`,
    ...optional(value, (attribute) => `  valueAttribute: ${typescriptAttribute(attribute)},`),
    ...optional(sortKey, (attribute) => `  sortKey: ${typescriptAttribute(attribute)},`),
    ...shardCountLines(plan),
    ...typescriptOptions(shardFormat),
    '});',
  ],
  python: ({ table, indexName, value, sortKey }, plan, shardFormat) => [
    'from aws_cdk.aws_dynamodb import Attribute, AttributeType',
    `from cdk_even_shards import ${names(shardFormat, 'ShardCounts', 'ShardedTable')}`,
    '',
    ...TABLE_OF_INDEX.python(table),
    'table.add_sharded_index(',
    `    index_name=${JSON.stringify(indexName)},`,
    ...optional(value, (attribute) => `    value_attribute=${pythonAttribute(attribute)},`),
    ...optional(sortKey, (attribute) => `    sort_key=${pythonAttribute(attribute)},`),
    ...pythonShardCounts(plan),
    ...pythonOptions(shardFormat),
    ')',
  ],
  java: ({ table, indexName, value, sortKey }, plan, shardFormat) => [
    'import io.github.cdkevenshards.*;',
    'import java.util.Map;',
    'import software.amazon.awscdk.services.dynamodb.Attribute;',
    'import software.amazon.awscdk.services.dynamodb.AttributeType;',
    '',
    ...TABLE_OF_INDEX.java(table),
    'table.addShardedIndex(ShardedIndexOptions.builder()',
    `    .indexName(${JSON.stringify(indexName)})`,
    ...optional(value, (attribute) => `    .valueAttribute(${javaAttribute(attribute)})`),
    ...optional(sortKey, (attribute) => `    .sortKey(${javaAttribute(attribute)})`),
    ...javaShardCounts(plan),
    ...javaOptions(shardFormat),
    '    .build());',
  ],
};

/** The comment of an imported index: its keys in the table of the owner. */
function keysOfOwner({ indexName, value, sortKey }: CodeIndex): string {
  const shard = `${indexName}Shard (N)`;
  const partition = value === undefined ? shard : `${value.name} (${value.type}) and ${shard}`;
  const sorted = sortKey === undefined ? '' : `, and the sort key ${sortKey.name} (${sortKey.type})`;
  return `the owner of the table first adds ${indexName}, with the partition key ${partition}${sorted}`;
}

function tableKeyOf({ table: { partitionKey, sortKey } }: CodeIndex): string[] {
  return [partitionKey, ...(sortKey === undefined ? [] : [sortKey])].map(({ name }) => name);
}

const IMPORTED_INDEX: Snippet<[index: CodeIndex, tableName: string, plan: ShardNumbers]> = {
  typescript: (index, tableName, plan) => [
    "import { AttributeType, TableV2 } from 'aws-cdk-lib/aws-dynamodb';",
    "import { ShardCounts, ShardedIndex } from 'cdk-even-shards';",
    '',
    `// ${keysOfOwner(index)}`,
    'const index = ShardedIndex.fromShardedIndexAttributes({',
    `  table: TableV2.fromTableName(this, ${quoted(index.table.id)}, ${quoted(tableName)}),`,
    `  tableKey: [${tableKeyOf(index).map(quoted).join(', ')}],`,
    `  indexName: ${quoted(index.indexName)},`,
    ...optional(index.value, (attribute) => `  valueAttribute: ${typescriptAttribute(attribute)},`),
    `  shardAttribute: ${quoted(`${index.indexName}Shard`)},`,
    ...optional(index.sortKey, (attribute) => `  sortKey: ${typescriptAttribute(attribute)},`),
    ...shardCountLines(plan),
    '});',
  ],
  python: (index, tableName, plan) => [
    'from aws_cdk.aws_dynamodb import Attribute, AttributeType, TableV2',
    'from cdk_even_shards import ShardCounts, ShardedIndex',
    '',
    `# ${keysOfOwner(index)}`,
    'index = ShardedIndex.from_sharded_index_attributes(',
    `    table=TableV2.from_table_name(self, ${JSON.stringify(index.table.id)}, ${JSON.stringify(tableName)}),`,
    `    table_key=${JSON.stringify(tableKeyOf(index))},`,
    `    index_name=${JSON.stringify(index.indexName)},`,
    ...optional(index.value, (attribute) => `    value_attribute=${pythonAttribute(attribute)},`),
    `    shard_attribute=${JSON.stringify(`${index.indexName}Shard`)},`,
    ...optional(index.sortKey, (attribute) => `    sort_key=${pythonAttribute(attribute)},`),
    ...pythonShardCounts(plan),
    ')',
  ],
  java: (index, tableName, plan) => [
    'import io.github.cdkevenshards.*;',
    'import java.util.List;',
    'import java.util.Map;',
    'import software.amazon.awscdk.services.dynamodb.Attribute;',
    'import software.amazon.awscdk.services.dynamodb.AttributeType;',
    'import software.amazon.awscdk.services.dynamodb.TableV2;',
    '',
    `// ${keysOfOwner(index)}`,
    'IShardedIndex index = ShardedIndex.fromShardedIndexAttributes(ShardedIndexAttributes.builder()',
    `    .table(TableV2.fromTableName(this, ${JSON.stringify(index.table.id)}, ${JSON.stringify(tableName)}))`,
    `    .tableKey(List.of(${tableKeyOf(index)
      .map((name) => JSON.stringify(name))
      .join(', ')}))`,
    `    .indexName(${JSON.stringify(index.indexName)})`,
    ...optional(index.value, (attribute) => `    .valueAttribute(${javaAttribute(attribute)})`),
    `    .shardAttribute(${JSON.stringify(`${index.indexName}Shard`)})`,
    ...optional(index.sortKey, (attribute) => `    .sortKey(${javaAttribute(attribute)})`),
    ...javaShardCounts(plan),
    '    .build());',
  ],
};

const ADAPTIVE_INDEX: Snippet<[maximum: number, shardFormat: ShardFormatCode]> = {
  typescript: (maximum, shardFormat) => [
    "import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';",
    `import { ${names(shardFormat, 'AdaptiveShardCountController', 'ShardCounts', 'ShardedTable')} } from 'cdk-even-shards';`,
    '',
    "const table = new ShardedTable(this, 'Table', { partitionKey: { name: 'id', type: AttributeType.STRING } });",
    'const index = table.addShardedIndex({',
    "  indexName: 'byValue',",
    "  valueAttribute: { name: 'value', type: AttributeType.STRING },",
    "  sortKey: { name: 'createdAt', type: AttributeType.STRING },",
    `  shardCounts: ShardCounts.adaptive({ maximum: ${maximum} }),`,
    ...typescriptOptions(shardFormat),
    '});',
    "new AdaptiveShardCountController(this, 'Controller', { index });",
  ],
  python: (maximum, shardFormat) => [
    'from aws_cdk.aws_dynamodb import Attribute, AttributeType',
    `from cdk_even_shards import ${names(shardFormat, 'AdaptiveShardCountController', 'ShardCounts', 'ShardedTable')}`,
    '',
    'table = ShardedTable(self, "Table", partition_key=Attribute(name="id", type=AttributeType.STRING))',
    'index = table.add_sharded_index(',
    '    index_name="byValue",',
    '    value_attribute=Attribute(name="value", type=AttributeType.STRING),',
    '    sort_key=Attribute(name="createdAt", type=AttributeType.STRING),',
    `    shard_counts=ShardCounts.adaptive(maximum=${maximum}),`,
    ...pythonOptions(shardFormat),
    ')',
    'AdaptiveShardCountController(self, "Controller", index=index)',
  ],
  java: (maximum, shardFormat) => [
    'import io.github.cdkevenshards.*;',
    'import software.amazon.awscdk.services.dynamodb.Attribute;',
    'import software.amazon.awscdk.services.dynamodb.AttributeType;',
    '',
    'Attribute id = Attribute.builder().name("id").type(AttributeType.STRING).build();',
    'ShardedTable table = ShardedTable.Builder.create(this, "Table").partitionKey(id).build();',
    'ShardedIndex index = table.addShardedIndex(ShardedIndexOptions.builder()',
    '    .indexName("byValue")',
    '    .valueAttribute(Attribute.builder().name("value").type(AttributeType.STRING).build())',
    '    .sortKey(Attribute.builder().name("createdAt").type(AttributeType.STRING).build())',
    `    .shardCounts(ShardCounts.adaptive(AdaptiveShardCountsOptions.builder().maximum(${maximum}).build()))`,
    ...javaOptions(shardFormat),
    '    .build());',
    'AdaptiveShardCountController.Builder.create(this, "Controller").index(index).build();',
  ],
};

const TABLE: Snippet<[table: CodeTable, plan: ShardNumbers, shardFormat: ShardFormatCode]> = {
  typescript: ({ id, partitionKey, sortKey }, plan, shardFormat) => [
    "import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';",
    `import { ${names(shardFormat, 'KeyShardedTable', 'ShardCounts')} } from 'cdk-even-shards';`,
    '',
    `new KeyShardedTable(this, ${quoted(id)}, {`,
    `  partitionKey: ${typescriptAttribute(partitionKey)},`,
    ...optional(sortKey, (attribute) => `  sortKey: ${typescriptAttribute(attribute)},`),
    ...shardCountLines(plan),
    ...typescriptOptions(shardFormat),
    '});',
  ],
  python: ({ id, partitionKey, sortKey }, plan, shardFormat) => [
    'from aws_cdk.aws_dynamodb import Attribute, AttributeType',
    `from cdk_even_shards import ${names(shardFormat, 'KeyShardedTable', 'ShardCounts')}`,
    '',
    `KeyShardedTable(self, ${JSON.stringify(id)},`,
    `    partition_key=${pythonAttribute(partitionKey)},`,
    ...optional(sortKey, (attribute) => `    sort_key=${pythonAttribute(attribute)},`),
    ...pythonShardCounts(plan),
    ...pythonOptions(shardFormat),
    ')',
  ],
  java: ({ id, partitionKey, sortKey }, plan, shardFormat) => [
    'import io.github.cdkevenshards.*;',
    'import java.util.Map;',
    'import software.amazon.awscdk.services.dynamodb.Attribute;',
    'import software.amazon.awscdk.services.dynamodb.AttributeType;',
    '',
    `KeyShardedTable.Builder.create(this, ${JSON.stringify(id)})`,
    `    .partitionKey(${javaAttribute(partitionKey)})`,
    ...optional(sortKey, (attribute) => `    .sortKey(${javaAttribute(attribute)})`),
    ...javaShardCounts(plan),
    ...javaOptions(shardFormat),
    '    .build();',
  ],
};

const KEYSPACES: Snippet<[plan: ShardNumbers, shardFormat: ShardFormatCode]> = {
  typescript: (plan, shardFormat) => [
    "import { CqlType, ShardCounts, ShardedKeyspacesTable } from 'cdk-even-shards';",
    '',
    "new ShardedKeyspacesTable(this, 'Table', {",
    "  keyspaceName: 'keyspace',",
    "  tableName: 'table',",
    "  partitionKey: [{ name: 'value', cqlType: CqlType.TEXT }],",
    "  clusteringColumns: [{ name: 'id', cqlType: CqlType.TEXT }],",
    ...shardCountLines(plan),
    ...typescriptOptions(shardFormat),
    '});',
  ],
  python: (plan, shardFormat) => [
    'from cdk_even_shards import CqlType, KeyspacesClusteringColumn, KeyspacesColumn, ShardCounts, ShardedKeyspacesTable',
    '',
    'ShardedKeyspacesTable(self, "Table",',
    '    keyspace_name="keyspace",',
    '    table_name="table",',
    '    partition_key=[KeyspacesColumn(name="value", cql_type=CqlType.TEXT)],',
    '    clustering_columns=[KeyspacesClusteringColumn(name="id", cql_type=CqlType.TEXT)],',
    ...pythonShardCounts(plan),
    ...pythonOptions(shardFormat),
    ')',
  ],
  java: (plan, shardFormat) => [
    'import io.github.cdkevenshards.*;',
    'import java.util.List;',
    'import java.util.Map;',
    '',
    'ShardedKeyspacesTable.Builder.create(this, "Table")',
    '    .keyspaceName("keyspace")',
    '    .tableName("table")',
    '    .partitionKey(List.of(KeyspacesColumn.builder().name("value").cqlType(CqlType.TEXT).build()))',
    '    .clusteringColumns(List.of(KeyspacesClusteringColumn.builder().name("id").cqlType(CqlType.TEXT).build()))',
    ...javaShardCounts(plan),
    ...javaOptions(shardFormat),
    '    .build();',
  ],
};

/** The counts of the values that have more than one shard. Undefined if all values have the same count. */
function countsOf({ shards, byValue }: ShardNumbers): { uniform: number } | { byValue: [string, number][] } {
  const counts = byValue && Object.entries(byValue).filter(([, count]) => count > 1);
  if (counts === undefined) return { uniform: shards };
  return counts.length === 0 ? { uniform: 1 } : { byValue: counts };
}

function shardCountLines(plan: ShardNumbers): string[] {
  const counts = countsOf(plan);
  if ('uniform' in counts) return [`  shardCounts: ShardCounts.uniform(${counts.uniform}),`];
  return [
    '  shardCounts: ShardCounts.byValue(',
    '    {',
    ...counts.byValue.map(([value, count]) => `      ${propertyName(value, plan)}: ${count},`),
    '    },',
    '    1,',
    '  ),',
  ];
}

/** A variable, or a literal. In an object literal, the name `__proto__` without brackets would set the prototype. */
function propertyName(value: string, { hasVariables }: ShardNumbers): string {
  if (hasVariables) return `[${value}]`;
  return value === '__proto__' ? `[${quoted(value)}]` : quoted(value);
}

function pythonShardCounts(plan: ShardNumbers): string[] {
  const counts = countsOf(plan);
  if ('uniform' in counts) return [`    shard_counts=ShardCounts.uniform(${counts.uniform}),`];
  return [
    '    shard_counts=ShardCounts.by_value({',
    ...counts.byValue.map(
      ([value, count]) => `        ${plan.hasVariables ? value : JSON.stringify(value)}: ${count},`,
    ),
    '    }, 1),',
  ];
}

function javaShardCounts(plan: ShardNumbers): string[] {
  const counts = countsOf(plan);
  if ('uniform' in counts) return [`    .shardCounts(ShardCounts.uniform(${counts.uniform}))`];
  const entries = counts.byValue.map(
    ([value, count]) => `        Map.entry(${plan.hasVariables ? value : JSON.stringify(value)}, ${count})`,
  );
  return ['    .shardCounts(ShardCounts.byValue(Map.ofEntries(', `${entries.join(',\n')}`, '    ), 1))'].flatMap(
    (line) => line.split('\n'),
  );
}

function optional<T>(value: T | undefined, lineOf: (value: T) => string): string[] {
  return value === undefined ? [] : [lineOf(value)];
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => (line === '' ? '' : `  ${line}`));
}

function upperFirst(name: string): string {
  const letters = name.replace(/[^a-zA-Z0-9_.-]/g, '');
  return letters.charAt(0).toUpperCase() + letters.slice(1);
}

/** A TypeScript string literal. */
export function quoted(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replace(/\\"/g, '"').replace(/'/g, "\\'")}'`;
}
