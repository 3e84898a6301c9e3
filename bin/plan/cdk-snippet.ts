import type { IndexPlan } from '../../lib/core/planning/plan-index';

/** The CDK code of a planned stream, to paste. */
export function streamSnippet(shardCount: number): string[] {
  return [
    "  import { UniformStream } from 'cdk-even-shards';",
    '',
    `  new UniformStream(this, 'Stream', { shardCount: ${shardCount} });`,
  ];
}

/** The CDK code of a planned index, to paste. */
export function indexSnippet({ shards, byValue }: IndexPlan, valueAttribute: string | undefined): string[] {
  return [
    "  import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';",
    "  import { ShardCounts, ShardedTable } from 'cdk-even-shards';",
    '',
    "  const table = new ShardedTable(this, 'Table', { partitionKey: { name: 'id', type: AttributeType.STRING } });",
    '  table.addShardedIndex({',
    `    indexName: '${valueAttribute === undefined ? 'byTime' : `by${upperFirst(valueAttribute)}`}',`,
    ...(valueAttribute === undefined
      ? []
      : [`    valueAttribute: { name: ${quoted(valueAttribute)}, type: AttributeType.STRING },`]),
    "    sortKey: { name: 'createdAt', type: AttributeType.STRING },",
    ...shardCountLines(shards, byValue),
    '  });',
  ];
}

/** A table of Amazon Keyspaces with as many shards as planned. */
export function keyspacesSnippet({ shards, byValue }: IndexPlan): string[] {
  return [
    "  import { CqlType, ShardCounts, ShardedKeyspacesTable } from 'cdk-even-shards';",
    '',
    "  new ShardedKeyspacesTable(this, 'Table', {",
    "    keyspaceName: 'keyspace',",
    "    tableName: 'table',",
    "    partitionKey: [{ name: 'value', cqlType: CqlType.TEXT }],",
    "    clusteringColumns: [{ name: 'id', cqlType: CqlType.TEXT }],",
    ...shardCountLines(shards, byValue),
    '  });',
  ];
}

function shardCountLines(shards: number, byValue: IndexPlan['byValue']): string[] {
  const counts = byValue && Object.entries(byValue).filter(([, count]) => count > 1);
  return counts === undefined || counts.length === 0
    ? [`    shardCounts: ShardCounts.uniform(${counts === undefined ? shards : 1}),`]
    : [
        '    shardCounts: ShardCounts.byValue(',
        '      {',
        ...counts.map(([value, count]) => `        ${quoted(value)}: ${count},`),
        '      },',
        '      1,',
        '    ),',
      ];
}

function upperFirst(name: string): string {
  const letters = name.replace(/[^a-zA-Z0-9_.-]/g, '');
  return letters.charAt(0).toUpperCase() + letters.slice(1);
}

/** A text as code. */
export function quoted(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replace(/\\"/g, '"').replace(/'/g, "\\'")}'`;
}
