import { listOf, type Properties, type Resource, TABLE_TYPES } from '../../lib/cloudformation/template';
import {
  CONSUMER_NAME,
  CORRECTS_ITEMS,
  HASH_BUCKETS,
  INDEXES,
  KEEPER_TABLE_NAME,
  PARKING_TABLE_NAME,
  STREAM_NAME,
} from '../../lib/core/contract/function-environment';
import type {
  IndexShards,
  ShardedConfig,
  ShardedIndexConfig,
} from '../../lib/core/sharded-index/config/sharded-index-config';
import {
  type ComparedStack,
  comparedStacks,
  referredKeys,
  resourceKey,
} from '../../lib/deployment-check/compared-stacks';
import { environmentOf } from '../../lib/deployment-check/function-findings';
import {
  type IndexMetadata,
  KEPT_INDEXES,
  KEY_SHARDING,
  type KeyShardingMetadata,
  SHARDED_INDEXES,
  shardingMetadata,
} from '../../lib/deployment-check/sharding-metadata';
import { type DeployedStack, pathOf } from './deployed-stack';
import { STREAM_TYPE } from './resource-state';

/** A stream or a table of a stack, from its template and its deployment. */
export interface DeployedResource {
  /** The construct path, such as `Orders/Events`. */
  readonly path: string;
  /** Its name in AWS. */
  readonly name: string;
  /** The name of the resource, and the names of the stack outputs whose value is this name. */
  readonly aliases: readonly string[];
  readonly properties: Properties;
  /** The template of the resource. Absent if the user has named only the resource. */
  readonly template?: { readonly type: string; readonly isOfCdk: boolean };
}

/** A sharded index, or a table that is sharded by its own key, with all data for readers and writers. */
export interface DeployedSharding {
  /** The path of the table. For an index it ends with the name of the index: `Orders/Table/byStatus`. */
  readonly path: string;
  /** The `aliases` of the table, if the table is sharded by its own key. */
  readonly aliases?: readonly string[];
  readonly config: ShardedConfig;
  /** Whether an `IndexKeeper` corrects the items, or only counts them (`correct: false`). Absent without a keeper. */
  readonly keeper?: 'corrects' | 'counts';
}

/** A stream, with the settings of its producers. */
export interface DeployedStream extends DeployedResource {
  readonly hashBuckets?: number;
}

/** An ordered consumer, and the table where it parks keys. */
interface DeployedConsumer {
  readonly path: string;
  readonly tableName: string;
  readonly consumer: string;
}

/** An index keeper, and its own table. */
export interface DeployedKeeper {
  readonly path: string;
  readonly tableName: string;
  /** Whether the keeper corrects items. */
  readonly corrects: boolean;
  /** The name of the function, which its metrics have. Absent if a local run does not run it. */
  readonly functionName?: string;
}

export interface StackResources {
  readonly consumers: readonly DeployedConsumer[];
  readonly keepers: readonly DeployedKeeper[];
  readonly streams: readonly DeployedStream[];
  readonly tables: readonly DeployedResource[];
  readonly shardings: readonly DeployedSharding[];
}

/** The streams, tables and sharded indexes of stacks. */
export function stackResources(stacks: readonly DeployedStack[]): StackResources {
  const found = stacks.flatMap((stack) =>
    Object.entries(stack.template.Resources ?? {}).flatMap(([logicalId, resource]) => {
      const name = stack.physicalNames.get(logicalId);
      if (name === undefined) return [];
      const aliases = [name, ...outputsOf(stack, logicalId)];
      return [{ stack, logicalId, resource, name, aliases, path: pathOf(stack, logicalId) }];
    }),
  );
  const deployed = ({ resource, name, aliases, path }: (typeof found)[number]): DeployedResource => ({
    path,
    name,
    aliases,
    properties: resource.Properties ?? {},
    template: { type: resource.Type, isOfCdk: resource.Metadata?.['aws:cdk:path'] !== undefined },
  });
  const compared = comparedStacks(stacks.map(({ id, template }) => ({ stack: id, synthesized: template })));
  const producers = producersOf(compared);
  const keepers = keepersOf(stacks, compared);
  const tables = found.filter(({ resource }) => TABLE_TYPES.includes(resource.Type));
  const tableNames = new Map(tables.map(({ path, name }) => [path, name]));
  return {
    consumers: stacks.flatMap(consumersOf),
    keepers,
    streams: found
      .filter(({ resource }) => resource.Type === STREAM_TYPE)
      .map((each) => ({ ...deployed(each), ...hashBucketsOf(each.stack, each.logicalId, producers) })),
    tables: tables.map(deployed),
    shardings: tables.flatMap((table) =>
      shardingsOf(table, tableNames, countedIn(table.stack, table.logicalId, keepers)),
    ),
  };
}

/** The outputs of a stack whose value is the name of a resource. */
function outputsOf({ template }: DeployedStack, logicalId: string): string[] {
  return Object.entries(template.Outputs ?? {}).flatMap(([output, { Value }]) =>
    Object(Value).Ref === logicalId ? [output] : [],
  );
}

/** The functions of a stack that use one of its parking tables. */
function consumersOf(stack: DeployedStack): DeployedConsumer[] {
  return Object.entries(stack.template.Resources ?? {}).flatMap(([logicalId, resource]) => {
    const { [PARKING_TABLE_NAME]: table, [CONSUMER_NAME]: consumer } = environmentOf(resource);
    const tableName = stack.physicalNames.get(Object(table).Ref);
    if (tableName === undefined || typeof consumer !== 'string') return [];
    return [{ path: pathOf(stack, logicalId), tableName, consumer }];
  });
}

interface KeeperOfTable extends DeployedKeeper {
  /** The keys of the resources to which the configurations of its indexes refer. */
  readonly referred: readonly string[];
  /** The configurations of its indexes, as text. */
  readonly configs: string;
}

/** The functions that keep an index. */
function keepersOf(stacks: readonly DeployedStack[], compared: readonly ComparedStack[]): KeeperOfTable[] {
  return stacks.flatMap((stack) => {
    const { scope } = compared.find((each) => each.stack === stack.id)!.synthesized;
    return Object.entries(stack.template.Resources ?? {}).flatMap(([logicalId, resource]) => {
      const { [KEEPER_TABLE_NAME]: table, [CORRECTS_ITEMS]: corrects, [INDEXES]: indexes } = environmentOf(resource);
      const tableName = stack.physicalNames.get(Object(table).Ref);
      if (tableName === undefined) return [];
      const of = { referred: referredKeys(indexes, scope), configs: JSON.stringify(indexes).replaceAll('\\"', '"') };
      const functionName = stack.physicalNames.get(logicalId);
      return [{ path: pathOf(stack, logicalId), tableName, corrects: corrects === 'true', functionName, ...of }];
    });
  });
}

/** The configurations of the indexes of a table whose items a keeper only counts, as text. */
function countedIn({ id }: DeployedStack, logicalId: string, keepers: readonly KeeperOfTable[]): string {
  const key = resourceKey({ stack: id, logicalId });
  const counting = keepers.filter(({ corrects, referred }) => !corrects && referred.includes(key));
  return counting.map(({ configs }) => configs).join('');
}

/** A producer with hash buckets. Without hash buckets, the hash of a key decides its shard. */
interface Producer {
  /** The keys of the resources to which its stream refers. */
  readonly stream: readonly string[];
  readonly hashBuckets: number;
}

function producersOf(compared: readonly ComparedStack[]): Producer[] {
  return compared.flatMap(({ synthesized: { scope, resources } }) =>
    [...resources].flatMap(([logicalId, resource]) => {
      const { [HASH_BUCKETS]: buckets } = environmentOf(resource);
      const { [STREAM_NAME]: stream } = environmentOf(scope.resource(logicalId)!);
      return typeof buckets === 'string' ? [{ stream: referredKeys(stream, scope), hashBuckets: Number(buckets) }] : [];
    }),
  );
}

/** How many hash buckets the producers of the app use for a stream. */
function hashBucketsOf(
  { id }: DeployedStack,
  logicalId: string,
  producers: readonly Producer[],
): { hashBuckets?: number } {
  const key = resourceKey({ stack: id, logicalId });
  const producer = producers.find(({ stream }) => stream.includes(key));
  return producer === undefined ? {} : { hashBuckets: producer.hashBuckets };
}

interface DeclaredTable extends Omit<DeployedResource, 'properties'> {
  readonly resource: Resource;
}

/** The sharded indexes, or the sharded key, in the metadata of a table, with the names of the deployed tables. */
function shardingsOf(
  { resource, name: tableName, path, aliases }: DeclaredTable,
  tableNames: ReadonlyMap<string, string>,
  counted: string,
): DeployedSharding[] {
  const { Metadata, Properties = {} } = resource;
  const tableKey = listOf<{ AttributeName: string }>(Properties.KeySchema).map(({ AttributeName }) => AttributeName);
  const indexes = Object.entries(shardingMetadata<Record<string, IndexMetadata>>(Metadata, SHARDED_INDEXES) ?? {});
  const kept = shardingMetadata<readonly string[]>(Metadata, KEPT_INDEXES) ?? [];
  const ofTable = shardingMetadata<KeyShardingMetadata>(Metadata, KEY_SHARDING);
  return [
    ...indexes
      .filter(([, { shards }]) => hasNumbers(shards))
      .map(([indexName, { adaptive, ...sharding }]): DeployedSharding => {
        const { countTable = '', maximum = 0 } = adaptive ?? {};
        const config: ShardedIndexConfig = {
          ...sharding,
          tableName,
          tableKey,
          indexName,
          ...(adaptive && { version: 2, adaptive: { tableName: tableNames.get(countTable) ?? countTable, maximum } }),
        };
        const isCounted = counted.includes(`"${indexName}":`);
        const keeper = kept.includes(indexName) ? 'corrects' : isCounted ? 'counts' : undefined;
        return { path: `${path}/${indexName}`, config, ...(keeper && { keeper }) };
      }),
    ...(ofTable !== undefined && hasNumbers(ofTable.shards)
      ? [{ path, aliases, config: { ...ofTable, tableName, tableKey } }]
      : []),
  ];
}

/** Whether all counts are numbers. In a template, a count that is only known at deployment is an object. */
function hasNumbers({ default: others, byValue = {} }: IndexShards): boolean {
  return [others, ...Object.values(byValue)].every(({ write, read }) =>
    [write, read].every((count) => typeof count === 'number'),
  );
}
