import { listOf, type Properties } from '../cloudformation/template';
import { readGuide } from '../construct/guide-link';
import { type ResourceChange, textOf } from './compared-stacks';
import { type Finding, finding } from './finding';
import { isDescribedIndex, shardAttributes } from './sharding-changes';

const TABLES = ['AWS::DynamoDB::GlobalTable', 'AWS::DynamoDB::Table'];

/** Findings for a DynamoDB table or an Amazon Keyspaces table that is in both templates. */
export function tableFindings(change: ResourceChange): Finding[] {
  if (change.type === 'AWS::Cassandra::Table') return columnFindings(change);
  if (!TABLES.includes(change.type)) return [];
  return [
    ...severalIndexes(change),
    ...indexDefinitions(change),
    ...keyTypes(change),
    ...replicas(change),
    ...changeStream(change),
    ...timeToLive(change),
    ...billing(change),
    ...recovery(change),
  ];
}

interface Index {
  readonly IndexName: string;
  readonly KeySchema?: unknown;
  readonly Projection?: unknown;
}

/** The names of the indexes of a table. */
export function indexNames({ Properties = {} }: { readonly Properties?: Properties }): string[] {
  return indexesOf(Properties).map(({ IndexName }) => IndexName);
}

function indexesOf({ GlobalSecondaryIndexes }: Properties): readonly Index[] {
  return listOf<Index>(GlobalSecondaryIndexes).filter(({ IndexName }) => typeof IndexName === 'string');
}

/**
 * In one update, CloudFormation can add or delete only one index of an existing table. Source: the CloudFormation
 * reference, AWS::DynamoDB::Table.
 */
function severalIndexes(change: ResourceChange): Finding[] {
  const [before, next] = [indexNames(change.deployed), indexNames(change.synthesized)];
  const added = next.filter((name) => !before.includes(name));
  const deleted = before.filter((name) => !next.includes(name));
  if (added.length + deleted.length < 2) return [];
  const parts = [
    added.length > 0 && `add ${added.join(' and ')}`,
    deleted.length > 0 && `delete ${deleted.join(' and ')}`,
  ];
  const order = [...added.map((name) => `add ${name}`), ...deleted.map((name) => `delete ${name}`)];
  const text =
    `the deployment would ${parts.filter(Boolean).join(', and ')}, but an update of a table can add or delete only one index. Make ` +
    `${order.length} deployments: ${order.join(', then ')}. Wait until a new index is ACTIVE before the next deployment.` +
    readGuide('index-resharding', 'what-cannot-change');
  return [finding(change, 'Deployment.severalIndexes', 'refused', 'split', text)];
}

/**
 * DynamoDB cannot change the key or the projection of an index. `shardingFindings` compares the keys of indexes with
 * sharding metadata.
 */
function indexDefinitions(change: ResourceChange): Finding[] {
  const before = indexesOf(change.deployed.Properties ?? {});
  return indexesOf(change.synthesized.Properties ?? {}).flatMap((index) => {
    const { IndexName } = index;
    const deployed = before.find((each) => each.IndexName === IndexName);
    if (deployed === undefined) return [];
    const parts = ['Projection', ...(isDescribedIndex(change, IndexName) ? [] : ['KeySchema'])] as const;
    return (parts as readonly ('Projection' | 'KeySchema')[]).flatMap((part) => {
      if (textOf(deployed[part]) === textOf(index[part])) return [];
      const text =
        `${part} of index ${IndexName} would change, which DynamoDB rejects. Add an index with another indexName, and delete ` +
        `this one in a later deployment.${readGuide('index-resharding', 'what-cannot-change')}`;
      return [finding(change, `Deployment.index${part}`, 'refused', 'revise', text)];
    });
  });
}

interface Attribute {
  readonly AttributeName: string;
  readonly AttributeType: unknown;
}

function keyTypes(change: ResourceChange): Finding[] {
  const [before, next] = [change.deployed, change.synthesized].map(({ Properties }) =>
    listOf<Attribute>(Properties?.AttributeDefinitions),
  ) as [readonly Attribute[], readonly Attribute[]];
  const compared = shardAttributes(change);
  const ofTable = listOf<Attribute>(change.deployed.Properties?.KeySchema).map(({ AttributeName }) => AttributeName);
  return next.flatMap(({ AttributeName, AttributeType }) => {
    if (compared.includes(AttributeName)) return [];
    const deployed = before.find((each) => each.AttributeName === AttributeName)?.AttributeType;
    if (typeof deployed !== 'string' || typeof AttributeType !== 'string' || deployed === AttributeType) return [];
    const instead = ofTable.includes(AttributeName)
      ? 'Create another table, and copy the items with keys of the new type.'
      : 'Write the values to another attribute, add an index on that attribute, and delete the earlier index in a later deployment.';
    const text =
      `the type of the key attribute ${AttributeName} would change from ${deployed} to ${AttributeType}, which DynamoDB rejects, and existing ` +
      `items have values of the earlier type. ${instead}`;
    return [finding(change, 'Deployment.keyType', 'refused', 'revise', text)];
  });
}

/**
 * In one update, CloudFormation can add or remove only one replica of a table. Source: the CloudFormation reference,
 * AWS::DynamoDB::GlobalTable.
 */
function replicas(change: ResourceChange): Finding[] {
  const [before, next] = [change.deployed, change.synthesized].map(({ Properties }) =>
    listOf<{ Region: unknown }>(Properties?.Replicas).map(({ Region }) => textOf(Region)),
  ) as [string[], string[]];
  const added = next.filter((region) => !before.includes(region));
  const removed = before.filter((region) => !next.includes(region));
  const several =
    added.length + removed.length > 1
      ? [
          finding(
            change,
            'Deployment.severalReplicas',
            'refused',
            'split',
            `${added.length} replicas would be added and ${removed.length} removed, but an update of a table can add or remove only one replica. ` +
              'Make a separate deployment for each replica.',
          ),
        ]
      : [];
  const lost = removed.map((region) =>
    finding(
      change,
      'Deployment.replicaRemoved',
      'deleted',
      'prepare',
      `the replica in ${region} would be deleted: first check that no application reads or writes this replica. Its items stay in the other regions.`,
    ),
  );
  return [...several, ...lost];
}

function changeStream(change: ResourceChange): Finding[] {
  const [before, next] = [change.deployed, change.synthesized].map(({ Properties }) => Properties?.StreamSpecification);
  if (before === undefined || textOf(before) === textOf(next)) return [];
  const becomes = next === undefined ? 'would be turned off' : 'would be replaced by a stream with another ARN';
  const text =
    `the stream of the table ${becomes}: its consumers lose the records that they have not read, and DynamoDB cannot ` +
    'change a stream that is on. Wait until consumers have read to its end, deploy the table without a stream, and then with the new stream.';
  return [finding(change, 'Deployment.changeStream', 'lost', 'split', text)];
}

function timeToLive(change: ResourceChange): Finding[] {
  const [before, next] = [change.deployed, change.synthesized].map(
    ({ Properties }) =>
      Properties?.TimeToLiveSpecification as { AttributeName?: unknown; Enabled?: unknown } | undefined,
  );
  if (before?.Enabled !== true || next?.Enabled !== true || textOf(before) === textOf(next)) return [];
  const text =
    `the time-to-live attribute would change from ${textOf(before.AttributeName)} to ${textOf(next.AttributeName)}, which DynamoDB ` +
    'rejects while time to live is on. Turn time to live off in one deployment, wait an hour, and turn it on with the new attribute in the next deployment.';
  return [finding(change, 'Deployment.timeToLive', 'refused', 'split', text)];
}

function billing(change: ResourceChange): Finding[] {
  const [before, next] = [change.deployed, change.synthesized].map(({ Properties }) => Properties?.BillingMode);
  if (before !== 'PAY_PER_REQUEST' || next === before) return [];
  const text =
    'the table would have provisioned capacity: the table and each index start with the capacity in the template, and an index with ' +
    'too little capacity throttles the writes of the table. Set at least the capacity that they consume today.';
  return [finding(change, 'Deployment.billingMode', 'failing', 'prepare', text)];
}

function recovery(change: ResourceChange): Finding[] {
  const [before, next] = [change.deployed, change.synthesized].map(({ Properties }) => hasRecovery(Properties ?? {}));
  if (!before || next) return [];
  const text =
    'point-in-time recovery would be turned off: the table could no longer be restored to a point of the last 35 days. Keep point-in-time ' +
    'recovery on, or first create a backup.';
  return [finding(change, 'Deployment.recoveryOff', 'lost', 'prepare', text)];
}

function hasRecovery({ PointInTimeRecoverySpecification: own, Replicas }: Properties): boolean {
  const all = [own, ...listOf<Properties>(Replicas).map((replica) => replica.PointInTimeRecoverySpecification)];
  return all.some((each) => (each as Properties | undefined)?.PointInTimeRecoveryEnabled === true);
}

interface Column {
  readonly ColumnName: string;
  readonly ColumnType: unknown;
}

/**
 * Amazon Keyspaces can add columns to an existing table, but cannot change or remove its columns. Source: the Amazon
 * Keyspaces API reference, UpdateTable.
 */
function columnFindings(change: ResourceChange): Finding[] {
  const [before, next] = [change.deployed, change.synthesized].map(({ Properties }) =>
    listOf<Column>(Properties?.RegularColumns),
  ) as [readonly Column[], readonly Column[]];
  const changed = before.filter(({ ColumnName, ColumnType }) => {
    const synthesized = next.find((each) => each.ColumnName === ColumnName);
    return textOf(synthesized?.ColumnType) !== textOf(ColumnType);
  });
  return changed.map(({ ColumnName }) =>
    finding(
      change,
      'Deployment.columns',
      'refused',
      'revise',
      `column ${ColumnName} would be removed or change its type, but Amazon Keyspaces can only add columns. Keep the column, and add another column.`,
    ),
  );
}
