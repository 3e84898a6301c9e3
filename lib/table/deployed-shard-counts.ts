import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Annotations, type CfnElement, Stack, Stage, Token } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';
import { InvalidArgumentError } from '../core/foundation/errors';
import { isReshardStep, planIndexReshard } from '../core/sharded-index/plan-index-reshard';
import { isTableReshardStep, planTableReshard } from '../core/sharded-index/plan-table-reshard';
import type {
  IndexShards,
  ShardCount,
  ShardedIndexConfig,
  ShardedTableConfig,
} from '../core/sharded-index/sharded-index-config';
import { readGuide } from '../guide-link';
import { KEY_SHARDING, SHARDED_INDEXES } from './index-metadata';

/** The key of the context that names a folder with the template of each stack that was deployed: an earlier `cdk.out`. */
export const DEPLOYED_ASSEMBLY = 'even-shards:deployedAssembly';

/**
 * Warns if the shard counts of an index skip a step from those that are deployed, as far as these can be known: from the
 * template that the context names. A template says nothing of counts that only the deployment knows.
 */
export function warnOfSkippedStep(table: IConstruct, { indexName, shards, adaptive }: ShardedIndexConfig): void {
  const index = deployedMetadata(table)?.[SHARDED_INDEXES]?.[indexName];
  if (index?.adaptive !== undefined && adaptive === undefined) {
    Annotations.of(table).addWarningV2(
      'cdk-even-shards:ShardedIndex.fixedAgain',
      `queries of ${indexName} miss items of values that have grown beyond its fixed shardCounts: deploy what they have grown ` +
        `to as initialByValue before.${readGuide('adaptive-counts', 'back-to-fixed-counts')}`,
    );
  }
  const deployed = index?.shards;
  if (!areKnown(deployed, shards) || isReshardStep(deployed, shards)) return;
  const first = planIndexReshard(deployed, targetOf(shards)).find((step) => step.action === 'deploy')!;
  Annotations.of(table).addWarningV2(
    'cdk-even-shards:ShardedIndex.skippedStep',
    `queries of ${indexName} would miss items if its shardCounts went from ${asCode(deployed)} to ${asCode(shards)} in one ` +
      `deployment: deploy ${asCode(first.shards)} before.${readGuide('index-resharding', 'both-deployments')}`,
  );
}

/** The same of a table that is sharded by its own key. */
export function warnOfSkippedTableStep(table: IConstruct, { shards }: ShardedTableConfig): void {
  const deployed = deployedMetadata(table)?.[KEY_SHARDING]?.shards;
  if (!areKnown(deployed, shards) || isTableReshardStep(deployed, shards)) return;
  const first = planTableReshard(deployed, targetOf(shards)).find((step) => step.action === 'deploy')!;
  Annotations.of(table).addWarningV2(
    'cdk-even-shards:KeyShardedTable.skippedStep',
    `items would be missed or be there twice if the shardCounts of the table went from ${asCode(deployed)} to ` +
      `${asCode(shards)} in one deployment: deploy ${asCode(first.shards)} before.` +
      readGuide('sharded-tables', 'a-table-sharded-by-its-own-key'),
  );
}

/** Whether synthesis can compare what is deployed with what it says now. */
function areKnown(deployed: IndexShards | undefined, shards: IndexShards): deployed is IndexShards {
  return deployed !== undefined && !hasToken(deployed) && !hasToken(shards);
}

/** The counts of writers. */
function targetOf({ default: others, byValue = {} }: IndexShards): Parameters<typeof planIndexReshard>[1] {
  const counts = Object.entries(byValue).map(([value, { write }]) => [value, write] as const);
  return { default: others.write, byValue: Object.fromEntries(counts) };
}

/** The metadata of the table in the template that was deployed. */
function deployedMetadata(table: IConstruct): DeployedMetadata | undefined {
  const folder: unknown = table.node.tryGetContext(DEPLOYED_ASSEMBLY);
  if (folder === undefined) return undefined;
  const field = `context ${DEPLOYED_ASSEMBLY}`;
  if (typeof folder !== 'string' || !existsSync(folder)) {
    throw new InvalidArgumentError(field, folder, 'a folder with the templates that were deployed');
  }
  const stack = Stack.of(table);
  const file = templateFiles(folder, stack).find((candidate) => existsSync(candidate));
  if (file === undefined) return undefined;
  const logicalId = stack.resolve((table.node.defaultChild as CfnElement).logicalId);
  return parsed(field, file)?.Resources?.[logicalId]?.Metadata;
}

/** Where the template of a stack can be: where synthesis puts it, in a folder of its stage, or under the name of the stack. */
function templateFiles(folder: string, stack: Stack): string[] {
  const stages: string[] = [];
  for (let stage = Stage.of(stack); stage?.parentStage !== undefined; stage = stage.parentStage) {
    stages.unshift(stage.artifactId);
  }
  const files = [join(folder, ...stages, stack.templateFile), join(folder, stack.templateFile)];
  return Token.isUnresolved(stack.stackName) ? files : [...files, join(folder, `${stack.stackName}.template.json`)];
}

interface DeployedMetadata {
  readonly [SHARDED_INDEXES]?: { readonly [indexName: string]: Pick<ShardedIndexConfig, 'shards' | 'adaptive'> };
  readonly [KEY_SHARDING]?: Pick<ShardedTableConfig, 'shards'>;
}

interface DeployedTemplate {
  readonly Resources?: { readonly [logicalId: string]: { readonly Metadata?: DeployedMetadata } };
}

function parsed(field: string, file: string): DeployedTemplate {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    throw new InvalidArgumentError(field, file, 'a folder whose templates are JSON');
  }
}

/** In a template, a token of an earlier synthesis is an object. */
function hasToken({ default: others, byValue = {} }: IndexShards): boolean {
  return [others, ...Object.values(byValue)].some(({ write, read }) =>
    [write, read].some((count) => typeof count !== 'number' || Token.isUnresolved(count)),
  );
}

function asCode({ default: others, byValue = {} }: IndexShards): string {
  const counts = (of: (count: ShardCount) => number) => {
    const values = Object.entries(byValue).map(([value, count]) => [value, of(count)]);
    if (values.length === 0) return `ShardCounts.uniform(${of(others)})`;
    return `ShardCounts.byValue(${JSON.stringify(Object.fromEntries(values))}, ${of(others)})`;
  };
  const writers = counts(({ write }) => write);
  const readers = counts(({ read }) => read);
  const earliest = counts(({ write, since = write }) => since);
  const reading = readers === writers ? writers : `${writers}.alsoReading(${readers})`;
  return earliest === writers ? reading : `${reading}.since(${earliest})`;
}
