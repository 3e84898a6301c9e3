import type { Resource } from '../cloudformation/template';
import { guideAddress, readGuide } from '../construct/guide-link';
import { CORRECTS_ITEMS, SEGMENTS_AT_ONCE } from '../core/contract/function-environment';
import { type ComparedStack, type NameOf, type ResourceChange, resourceChanges, resourceKey } from './compared-stacks';
import { type Finding, finding } from './finding';
import { indexNames } from './index-and-replica-findings';
import { type ConfiguredFunction, configuredFunctions, hasConfig, listed } from './reader-findings';
import type { Replacement } from './resource-findings';
import { RolePermissions } from './role-permissions';
import { type IndexMetadata, KEPT_INDEXES, SHARDED_INDEXES, shardingMetadata } from './sharding-metadata';

/** The ids of the findings that are true only for a table with items. */
export const OF_TABLES_WITH_ITEMS: readonly string[] = [
  'ShardedIndex.adoptedAtOnce',
  'ShardedIndex.unboundWriters',
].map((id) => `cdk-even-shards:${id}`);

const WRITES = ['dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:BatchWriteItem'];

/**
 * Findings for sharded indexes that a deployed table gets, and for sharded indexes that lose their keeper. The existing items of
 * the table have no shard attributes.
 */
export function adoptionFindings(
  stacks: readonly ComparedStack[],
  replaced: ReadonlyMap<string, Replacement>,
  nameOf: NameOf,
): Finding[] {
  const app = appOf(stacks);
  return stacks
    .flatMap(resourceChanges)
    .filter((table) => !replaced.has(resourceKey(table)))
    .flatMap((table) => new Adoption(table, app, nameOf).findings());
}

/** The functions of an app, and who reads and writes its tables. */
interface App {
  readonly functions: readonly ConfiguredFunction[];
  readonly permissions: RolePermissions;
  /** The paths of the keepers that correct items, and of the keepers that only count them. */
  readonly keepers: readonly string[];
  readonly countingKeepers: readonly string[];
  /** The paths of keepers and movers, also of other indexes: they change only shard attributes and keys of existing items. */
  readonly correctors: readonly string[];
  /** The functions and roles that query an index, before and after the update. */
  readersBefore(table: ResourceChange, indexName: string): string[];
  readersNow(table: ResourceChange, indexName: string): string[];
}

function appOf(stacks: readonly ComparedStack[]): App {
  const before = stacks.flatMap(({ deployed }) => deployed ?? []);
  const now = stacks.map(({ synthesized }) => synthesized);
  const functions = configuredFunctions(now);
  const permissions = new RolePermissions(now);
  const keepersThat = (corrects: boolean) =>
    functions.flatMap(({ path, name, variable }) =>
      name === CORRECTS_ITEMS && variable === `"${corrects}"` ? [path] : [],
    );
  return {
    functions,
    permissions,
    keepers: keepersThat(true),
    countingKeepers: keepersThat(false),
    correctors: functions.flatMap(({ path, name }) =>
      name === CORRECTS_ITEMS || name === SEGMENTS_AT_ONCE ? [path] : [],
    ),
    readersBefore: readersIn(configuredFunctions(before), new RolePermissions(before)),
    readersNow: readersIn(functions, permissions),
  };
}

/** The sharded indexes that one table gets or has. */
class Adoption {
  private readonly keptBefore: string[];
  private readonly kept: string[];

  constructor(
    private readonly table: ResourceChange,
    private readonly app: App,
    private readonly nameOf: NameOf,
  ) {
    [this.keptBefore, this.kept] = [table.deployed, table.synthesized].map(keptIndexes) as [string[], string[]];
  }

  findings(): Finding[] {
    return [...this.ofNewIndexes(), ...this.ofCountedIndexes(), ...this.ofLostKeepers()];
  }

  private ofNewIndexes(): Finding[] {
    const { table, app, nameOf } = this;
    return adoptedIndexes(table, app.functions).flatMap((indexName) => {
      const readers = app.readersNow(table, indexName);
      return [
        ...(readers.length === 0 ? [] : [adoptedAtOnce(table, indexName, readers.map(nameOf))]),
        ...(this.isKept(indexName) ? [] : [unboundWriters(table, indexName, this.unboundWritersOf(indexName))]),
      ];
    });
  }

  /** A keeper only counts the items of these indexes, so new readers do not find all items. */
  private ofCountedIndexes(): Finding[] {
    const { table, app, nameOf } = this;
    const onlyCounted = indexNames(table.synthesized).filter(
      (indexName) =>
        indexNames(table.deployed).includes(indexName) &&
        !this.isKept(indexName) &&
        this.functionsWith(indexName).some((path) => app.countingKeepers.includes(path)),
    );
    return onlyCounted.flatMap((indexName) => {
      const old = app.readersBefore(table, indexName);
      const readers = app.readersNow(table, indexName).filter((each) => !old.includes(each));
      const writers = this.unboundWritersOf(indexName);
      return readers.length === 0 ? [] : [readBeforeKept(table, indexName, readers.map(nameOf), writers)];
    });
  }

  private ofLostKeepers(): Finding[] {
    const sharded = Object.keys(shardedIndexes(this.table.synthesized));
    const lost = this.keptBefore.filter((indexName) => sharded.includes(indexName) && !this.isKept(indexName));
    return lost.map((indexName) => keeperRemoved(this.table, indexName, this.unboundWritersOf(indexName)));
  }

  private isKept(indexName: string): boolean {
    const { keepers } = this.app;
    return this.kept.includes(indexName) || this.functionsWith(indexName).some((path) => keepers.includes(path));
  }

  /** The functions that have the configuration of an index. */
  private functionsWith(indexName: string): string[] {
    const configured = this.app.functions.filter((each) => hasConfig(each, this.table, indexName));
    return configured.map(({ path }) => path);
  }

  /** The names of the writers of the table that do not have the configuration of an index. */
  private unboundWritersOf(indexName: string): string[] {
    const bound = [...this.functionsWith(indexName), ...this.app.correctors];
    const writers = this.app.permissions.holdersOf(WRITES, resourceKey(this.table));
    return writers.filter((writer) => !bound.includes(writer)).map(this.nameOf);
  }
}

/** The functions and roles that query an index of a table. */
function readersIn(functions: readonly ConfiguredFunction[], permissions: RolePermissions) {
  return (table: ResourceChange, indexName: string): string[] => {
    const configured = functions.filter((each) => hasConfig(each, table, indexName)).map(({ path }) => path);
    // A policy that allows queries of every index can be of a reader of another index.
    const named = permissions.holdersOf(['dynamodb:Query'], resourceKey(table), indexName, true);
    return permissions
      .holdersOf(['dynamodb:Query'], resourceKey(table), indexName)
      .filter((each) => configured.includes(each) || named.includes(each));
  };
}

type ShardedIndexes = { readonly [indexName: string]: IndexMetadata };

function shardedIndexes({ Metadata }: Resource): ShardedIndexes {
  return shardingMetadata<ShardedIndexes>(Metadata, SHARDED_INDEXES) ?? {};
}

/**
 * The new sharded indexes of a deployed table. An index with the shard attribute of another index has all its items. A table
 * that is not a `ShardedTable` has no sharding metadata, so a function has the only description of its sharded index.
 */
function adoptedIndexes(table: ResourceChange, functions: readonly ConfiguredFunction[]): string[] {
  const { deployed, synthesized } = table;
  const [before, next] = [deployed, synthesized].map(shardedIndexes) as [ShardedIndexes, ShardedIndexes];
  const written = Object.values(before).map(({ shardAttribute }) => shardAttribute);
  const existing = indexNames(deployed);
  const described = Object.entries(next).flatMap(([indexName, { shardAttribute }]) =>
    existing.includes(indexName) || Object.hasOwn(before, indexName) || written.includes(shardAttribute)
      ? []
      : [indexName],
  );
  const isSharded = ({ variable }: ConfiguredFunction) => variable.includes('\\"shardAttribute\\":');
  const others = indexNames(synthesized).filter(
    (indexName) =>
      !existing.includes(indexName) &&
      !Object.hasOwn(next, indexName) &&
      functions.some((each) => isSharded(each) && hasConfig(each, table, indexName)),
  );
  return [...described, ...others];
}

function keptIndexes({ Metadata }: Resource): string[] {
  return shardingMetadata<string[]>(Metadata, KEPT_INDEXES) ?? [];
}

function adoptedAtOnce(table: ResourceChange, indexName: string, readers: readonly string[]): Finding {
  const text =
    `index ${indexName} would be new, and ${listed(readers)} would query it in the same deployment: a query misses each item without a shard ` +
    'attribute, and no existing item has one. First deploy the index with its writers, a mover or an IndexKeeper. Deploy the readers after all items ' +
    `have shard attributes.${readGuide('adopt', 'consumers-that-read-in-the-meantime')}`;
  return finding(table, 'ShardedIndex.adoptedAtOnce', 'missed', 'split', text);
}

function readBeforeKept(
  table: ResourceChange,
  indexName: string,
  readers: readonly string[],
  writers: readonly string[],
): Finding {
  const text =
    `${listed(readers)} would query index ${indexName}, while its IndexKeeper has correct: false: a query misses each item without shard attributes, ` +
    `and the keeper only counts these items: ${describeUnbound(writers)}. First remove correct: false, and let a sweep ` +
    `complete.${readGuide('adopt', 'writers-that-cannot-change')}`;
  return finding(table, 'ShardedIndex.adoptedAtOnce', 'missed', writers.length === 0 ? 'know' : 'prepare', text);
}

function unboundWriters(table: ResourceChange, indexName: string, writers: readonly string[]): Finding {
  const text =
    `index ${indexName} would be new, and contains only items with shard attributes: ${describeUnbound(writers)}. Bind each writer of the table with bindWriter, also a ` +
    `writer of another app, or add an IndexKeeper for writers that cannot change.${readGuide('adopt', 'writers-that-can-change')} and ` +
    guideAddress('adopt', 'writers-that-cannot-change');
  return finding(table, 'ShardedIndex.unboundWriters', 'missed', 'know', text);
}

function keeperRemoved(table: ResourceChange, indexName: string, writers: readonly string[]): Finding {
  const text =
    `index ${indexName} would lose its IndexKeeper, and queries would miss each item that is then written without shard attributes: ` +
    `${describeUnbound(writers)}. First bind each writer of the table with bindWriter, also a writer of another app.` +
    readGuide('adopt', 'writers-that-can-change');
  return finding(table, 'ShardedIndex.keeperRemoved', 'missed', writers.length === 0 ? 'know' : 'prepare', text);
}

function describeUnbound(writers: readonly string[]): string {
  return writers.length === 0
    ? 'no function of this app writes items without them'
    : `these functions or roles may write items without them: ${listed(writers)}`;
}
