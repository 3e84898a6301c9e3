import { readGuide } from '../construct/guide-link';
import { type Finding, finding } from './finding';
import { isDescribedIndex, shardAttributes } from './sharding-changes';
import { listOf, type Properties, type ResourceChange, textOf } from './template';

const TABLES = ['AWS::DynamoDB::GlobalTable', 'AWS::DynamoDB::Table'];

/** What a deployment does to a table of DynamoDB, or of Amazon Keyspaces, that stays. */
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

/** CloudFormation adds or deletes one index of a table that exists in one update. Source: its reference, AWS::DynamoDB::Table. */
function severalIndexes(change: ResourceChange): Finding[] {
  const [before, next] = [indexNames(change.deployed), indexNames(change.coming)];
  const added = next.filter((name) => !before.includes(name));
  const deleted = before.filter((name) => !next.includes(name));
  if (added.length + deleted.length < 2) return [];
  const parts = [
    added.length > 0 && `add ${added.join(' and ')}`,
    deleted.length > 0 && `delete ${deleted.join(' and ')}`,
  ];
  const order = [...added.map((name) => `add ${name}`), ...deleted.map((name) => `delete ${name}`)];
  const text =
    `the deployment would ${parts.filter(Boolean).join(', and ')}, and one update of a table adds or deletes one index. Make ` +
    `${order.length} deployments: ${order.join(', then ')}. Wait until an index is ACTIVE before the next.` +
    readGuide('index-resharding', 'what-cannot-change');
  return [finding(change, 'Deployment.severalIndexes', 'refused', 'split', text)];
}

/** DynamoDB changes neither the key nor the projection of an index. The key of one that metadata describes is compared there. */
function indexDefinitions(change: ResourceChange): Finding[] {
  const before = indexesOf(change.deployed.Properties ?? {});
  return indexesOf(change.coming.Properties ?? {}).flatMap((index) => {
    const { IndexName } = index;
    const deployed = before.find((each) => each.IndexName === IndexName);
    if (deployed === undefined) return [];
    const parts = ['Projection', ...(isDescribedIndex(change, IndexName) ? [] : ['KeySchema'])] as const;
    return (parts as readonly ('Projection' | 'KeySchema')[]).flatMap((part) => {
      if (textOf(deployed[part]) === textOf(index[part])) return [];
      const text =
        `${part} of index ${IndexName} would change, which DynamoDB refuses. Add an index with another indexName, and delete ` +
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
  const [before, next] = [change.deployed, change.coming].map(({ Properties }) =>
    listOf<Attribute>(Properties?.AttributeDefinitions),
  ) as [readonly Attribute[], readonly Attribute[]];
  const compared = shardAttributes(change);
  const ofTable = listOf<Attribute>(change.deployed.Properties?.KeySchema).map(({ AttributeName }) => AttributeName);
  return next.flatMap(({ AttributeName, AttributeType }) => {
    if (compared.includes(AttributeName)) return [];
    const deployed = before.find((each) => each.AttributeName === AttributeName)?.AttributeType;
    if (typeof deployed !== 'string' || typeof AttributeType !== 'string' || deployed === AttributeType) return [];
    const instead = ofTable.includes(AttributeName)
      ? 'Make another table, and copy the items with keys of the new type.'
      : 'Write the values under another attribute, add an index by that one, and delete the earlier index in a later deployment.';
    const text =
      `the type of the key attribute ${AttributeName} would go from ${deployed} to ${AttributeType}, which DynamoDB refuses, and items ` +
      `that are there have values of the earlier type. ${instead}`;
    return [finding(change, 'Deployment.keyType', 'refused', 'revise', text)];
  });
}

/** Source: the CloudFormation reference, AWS::DynamoDB::GlobalTable: one replica in each update. */
function replicas(change: ResourceChange): Finding[] {
  const [before, next] = [change.deployed, change.coming].map(({ Properties }) =>
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
            `${added.length} replicas would be added and ${removed.length} removed, and one update of a table adds or removes one. ` +
              'Make a deployment for each.',
          ),
        ]
      : [];
  const lost = removed.map((region) =>
    finding(
      change,
      'Deployment.replicaRemoved',
      'deleted',
      'prepare',
      `the replica in ${region} is deleted: see that nobody reads or writes there any more. Its items stay in the other regions.`,
    ),
  );
  return [...several, ...lost];
}

function changeStream(change: ResourceChange): Finding[] {
  const [before, next] = [change.deployed, change.coming].map(({ Properties }) => Properties?.StreamSpecification);
  if (before === undefined || textOf(before) === textOf(next)) return [];
  const becomes = next === undefined ? 'would be off' : 'would be another one, with another ARN';
  const text =
    `the change stream of the table ${becomes}: what its consumers have not read yet is lost to them, and DynamoDB does not ` +
    'change a stream that is on. Let consumers read to its end, then deploy the table without a stream, and then with the new one.';
  return [finding(change, 'Deployment.changeStream', 'lost', 'split', text)];
}

function timeToLive(change: ResourceChange): Finding[] {
  const [before, next] = [change.deployed, change.coming].map(
    ({ Properties }) =>
      Properties?.TimeToLiveSpecification as { AttributeName?: unknown; Enabled?: unknown } | undefined,
  );
  if (before?.Enabled !== true || next?.Enabled !== true || textOf(before) === textOf(next)) return [];
  const text =
    `the attribute of the time to live would go from ${textOf(before.AttributeName)} to ${textOf(next.AttributeName)}, which DynamoDB ` +
    'refuses while it is on. Turn it off in one deployment, wait an hour, and turn it on with the new attribute in the next.';
  return [finding(change, 'Deployment.timeToLive', 'refused', 'split', text)];
}

function billing(change: ResourceChange): Finding[] {
  const [before, next] = [change.deployed, change.coming].map(({ Properties }) => Properties?.BillingMode);
  if (before !== 'PAY_PER_REQUEST' || next === before) return [];
  const text =
    'the table would have provisioned capacity: it and each index begin with the capacity of the template, and an index that ' +
    'has too little throttles the writes of the table. Give them at least what they consume today.';
  return [finding(change, 'Deployment.billingMode', 'failing', 'prepare', text)];
}

function recovery(change: ResourceChange): Finding[] {
  const [before, next] = [change.deployed, change.coming].map(({ Properties }) => hasRecovery(Properties ?? {}));
  if (!before || next) return [];
  const text =
    'point-in-time recovery would be off: all points of the last 35 days to which the table can be restored are lost. Keep ' +
    'it, or make a backup before.';
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

/** Amazon Keyspaces adds columns, and changes none. Source: its API reference, UpdateTable. */
function columnFindings(change: ResourceChange): Finding[] {
  const [before, next] = [change.deployed, change.coming].map(({ Properties }) =>
    listOf<Column>(Properties?.RegularColumns),
  ) as [readonly Column[], readonly Column[]];
  const changed = before.filter(({ ColumnName, ColumnType }) => {
    const coming = next.find((each) => each.ColumnName === ColumnName);
    return textOf(coming?.ColumnType) !== textOf(ColumnType);
  });
  return changed.map(({ ColumnName }) =>
    finding(
      change,
      'Deployment.columns',
      'refused',
      'revise',
      `column ${ColumnName} would go or change its type, and Amazon Keyspaces only adds columns. Leave it, and add another one.`,
    ),
  );
}
