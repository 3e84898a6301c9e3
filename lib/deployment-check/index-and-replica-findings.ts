import { listOf, type Properties } from '../cloudformation/template';
import { readGuide } from '../construct/guide-link';
import type { ResourceChange } from './compared-stacks';
import { type Finding, finding } from './finding';
import { isDescribedIndex } from './sharding-changes';
import { settingText } from './update-effects';

/** A global secondary index in a template. */
export interface Index extends Properties {
  readonly IndexName: string;
}

/** The global secondary indexes of a table. */
export function indexesOf({ Properties = {} }: { readonly Properties?: Properties }): readonly Index[] {
  return listOf<Index>(Properties.GlobalSecondaryIndexes).filter(({ IndexName }) => typeof IndexName === 'string');
}

/** The names of the indexes of a table. */
export function indexNames(table: { readonly Properties?: Properties }): string[] {
  return indexesOf(table).map(({ IndexName }) => IndexName);
}

/** Findings for the indexes and replicas of a DynamoDB table. */
export function indexAndReplicaFindings(change: ResourceChange): Finding[] {
  const indexes = addedAndRemoved(change, indexNames);
  const replicas = addedAndRemoved(change, regionsOf);
  return [
    ...severalUpdates(change, indexes, replicas),
    ...indexDefinitions(change),
    ...replicas.removed.map((region) => {
      const text =
        `the replica in ${region} would be deleted: first check that no application reads or writes this replica. Its items stay in the other ` +
        'regions.';
      return finding(change, 'Deployment.replicaRemoved', 'deleted', 'prepare', text);
    }),
  ];
}

interface Names {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

function addedAndRemoved({ deployed, synthesized }: ResourceChange, names: (table: object) => string[]): Names {
  const [before, next] = [names(deployed), names(synthesized)];
  return {
    added: next.filter((name) => !before.includes(name)),
    removed: before.filter((name) => !next.includes(name)),
  };
}

function regionsOf({ Properties }: { readonly Properties?: Properties }): string[] {
  return listOf<{ Region: unknown }>(Properties?.Replicas).map(({ Region }) =>
    typeof Region === 'string' ? Region : settingText(Region),
  );
}

/**
 * In one update, CloudFormation can add or delete only one index or one replica. A table with multi-Region strong
 * consistency gets all its replicas in one update. Source: the CloudFormation reference, AWS::DynamoDB::GlobalTable.
 */
function severalUpdates(change: ResourceChange, indexes: Names, replicas: Names): Finding[] {
  const isStrong = change.synthesized.Properties?.MultiRegionConsistency === 'STRONG';
  const ofIndexes = [
    ...indexes.added.map((name) => `add index ${name}`),
    ...indexes.removed.map((name) => `delete index ${name}`),
  ];
  const ofReplicas = [
    ...replicas.added.map((region) => `add the replica in ${region}`),
    ...replicas.removed.map((region) => `delete the replica in ${region}`),
  ];
  const updates = [...ofIndexes, ...(isStrong && ofReplicas.length > 0 ? [ofReplicas.join(' and ')] : ofReplicas)];
  if (updates.length < 2) return [];
  const several = ofReplicas.length === 0 ? 'Deployment.severalIndexes' : 'Deployment.severalReplicas';
  const id = ofIndexes.length > 0 && ofReplicas.length > 0 ? 'Deployment.indexAndReplica' : several;
  const wait = ofIndexes.length === 0 ? '' : ' Wait until a new index is ACTIVE before the next deployment.';
  const text =
    `the deployment would ${updates.join(', and ')}, but an update of a table can add or delete only one index or one replica. Make ` +
    `${updates.length} deployments: ${updates.join(', then ')}.${wait}${readGuide('index-resharding', 'what-cannot-change')}`;
  return [finding(change, id, 'refused', 'split', text)];
}

/**
 * DynamoDB cannot change the key or the projection of an index. `shardingFindings` compares the keys of indexes with
 * sharding metadata.
 */
function indexDefinitions(change: ResourceChange): Finding[] {
  const before = indexesOf(change.deployed);
  return indexesOf(change.synthesized).flatMap((index) => {
    const { IndexName } = index;
    const deployed = before.find((each) => each.IndexName === IndexName);
    if (deployed === undefined) return [];
    const parts = ['Projection', ...(isDescribedIndex(change, IndexName) ? [] : ['KeySchema'])];
    return parts.flatMap((part) => {
      const [from, to] = [deployed, index].map((each) => settingText(each[part], change.type, part));
      if (from === to) return [];
      const text =
        `${part} of index ${IndexName} would change, which DynamoDB rejects. Add an index with another indexName, and delete ` +
        `this one in a later deployment.${readGuide('index-resharding', 'what-cannot-change')}`;
      return [finding(change, `Deployment.index${part}`, 'refused', 'revise', text)];
    });
  });
}
