import { listOf, type Properties, TABLE_TYPES } from '../cloudformation/template';
import type { ResourceChange } from './compared-stacks';
import { type Finding, finding } from './finding';
import { indexAndReplicaFindings } from './index-and-replica-findings';
import { shardAttributes } from './sharding-changes';
import { settingText } from './update-effects';
import { warmThroughputFindings } from './warm-throughput-findings';

/** Findings for a DynamoDB table or an Amazon Keyspaces table that is in both templates. */
export function tableFindings(change: ResourceChange): Finding[] {
  if (change.type === 'AWS::Cassandra::Table') return columnFindings(change);
  if (!TABLE_TYPES.includes(change.type)) return [];
  return [
    ...indexAndReplicaFindings(change),
    ...keyTypes(change),
    ...warmThroughputFindings(change),
    ...changeStream(change),
    ...timeToLive(change),
    ...billing(change),
    ...recovery(change),
  ];
}

/** A value from the properties of the deployed table, and from the properties of the new table. */
function versionsOf<V>({ deployed, synthesized }: ResourceChange, valueIn: (properties: Properties) => V): [V, V] {
  return [valueIn(deployed.Properties ?? {}), valueIn(synthesized.Properties ?? {})];
}

interface Attribute {
  readonly AttributeName: string;
  readonly AttributeType: unknown;
}

function keyTypes(change: ResourceChange): Finding[] {
  const [before, next] = versionsOf(change, (properties) => listOf<Attribute>(properties.AttributeDefinitions));
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

function changeStream(change: ResourceChange): Finding[] {
  const [before, next] = versionsOf(change, (properties) => properties.StreamSpecification);
  if (before === undefined || settingText(before) === settingText(next)) return [];
  const becomes = next === undefined ? 'would be turned off' : 'would be replaced by a stream with another ARN';
  const text =
    `the stream of the table ${becomes}: its consumers lose the records that they have not read, and DynamoDB cannot ` +
    'change a stream that is on. Wait until consumers have read to its end, deploy the table without a stream, and then with the new stream.';
  return [finding(change, 'Deployment.changeStream', 'lost', 'split', text)];
}

function timeToLive(change: ResourceChange): Finding[] {
  const [before, next] = versionsOf(
    change,
    (properties) => properties.TimeToLiveSpecification as { AttributeName?: unknown; Enabled?: unknown } | undefined,
  );
  const [wasOn, isOn] = [before, next].map((each) => String(each?.Enabled) === 'true');
  if (!isOn || settingText(before) === settingText(next)) return [];
  if (!wasOn) {
    const text =
      `time to live would be turned on: DynamoDB then deletes each item whose attribute ${JSON.stringify(next!.AttributeName)} has a time in the past. First ` +
      'count these items.';
    return [finding(change, 'Deployment.timeToLiveOn', 'lost', 'prepare', text)];
  }
  const text =
    `the time-to-live attribute would change from ${JSON.stringify(before!.AttributeName)} to ${JSON.stringify(next!.AttributeName)}, which DynamoDB ` +
    'rejects while time to live is on. Turn time to live off in one deployment, wait an hour, and turn it on with the new attribute in the next deployment.';
  return [finding(change, 'Deployment.timeToLive', 'refused', 'split', text)];
}

function billing(change: ResourceChange): Finding[] {
  const [before, next] = versionsOf(change, (properties) => properties.BillingMode);
  if (before !== 'PAY_PER_REQUEST' || next === before) return [];
  const text =
    'the table would have provisioned capacity: the table and each index start with the capacity in the template, and an index with ' +
    'too little capacity throttles the writes of the table. Set at least the capacity that they consume today.';
  return [finding(change, 'Deployment.billingMode', 'failing', 'prepare', text)];
}

function recovery(change: ResourceChange): Finding[] {
  const [before, next] = versionsOf(change, hasRecovery);
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
}

/**
 * Amazon Keyspaces can add columns to an existing table, but cannot remove its columns. Source: the Amazon Keyspaces API
 * reference, UpdateTable.
 */
function columnFindings(change: ResourceChange): Finding[] {
  const [before, next] = versionsOf(change, (properties) => listOf<Column>(properties.RegularColumns));
  return before
    .filter(({ ColumnName }) => !next.some((each) => each.ColumnName === ColumnName))
    .map(({ ColumnName }) => {
      const text = `column ${ColumnName} would be removed, but Amazon Keyspaces can only add columns. Keep the column.`;
      return finding(change, 'Deployment.columns', 'refused', 'revise', text);
    });
}
