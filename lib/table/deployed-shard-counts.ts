import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Annotations, type CfnElement, Stack, Token } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';
import { InvalidArgumentError } from '../core/foundation/errors';
import { isReshardStep, planIndexReshard } from '../core/sharded-index/plan-index-reshard';
import type { IndexShards, ShardCount, ShardedIndexConfig } from '../core/sharded-index/sharded-index-config';
import { readGuide } from '../guide-link';
import { SHARDED_INDEXES } from './index-metadata';

/** The key of the context that names a folder with the template of each stack that was deployed: an earlier `cdk.out`. */
export const DEPLOYED_ASSEMBLY = 'even-shards:deployedAssembly';

/**
 * Warns if the shard counts of an index skip a step from those that are deployed, as far as these can be known: from the
 * template that the context names. A template says nothing of counts that only the deployment knows.
 */
export function warnOfSkippedStep(table: IConstruct, { indexName, shards }: ShardedIndexConfig): void {
  const deployed = deployedShards(table, indexName);
  if (deployed === undefined || hasToken(deployed) || hasToken(shards) || isReshardStep(deployed, shards)) return;
  const target = {
    default: shards.default.write,
    byValue: Object.fromEntries(Object.entries(shards.byValue ?? {}).map(([value, { write }]) => [value, write])),
  };
  const first = planIndexReshard(deployed, target).find((step) => step.action === 'deploy')!;
  Annotations.of(table).addWarningV2(
    'cdk-even-shards:ShardedIndex.skippedStep',
    `queries of ${indexName} would miss items if its shardCounts went from ${asCode(deployed)} to ${asCode(shards)} in one ` +
      `deployment: deploy ${asCode(first.shards)} before.${readGuide('index-resharding', 'both-deployments')}`,
  );
}

function deployedShards(table: IConstruct, indexName: string): IndexShards | undefined {
  const folder: unknown = table.node.tryGetContext(DEPLOYED_ASSEMBLY);
  if (folder === undefined) return undefined;
  const field = `context ${DEPLOYED_ASSEMBLY}`;
  if (typeof folder !== 'string' || !existsSync(folder)) {
    throw new InvalidArgumentError(field, folder, 'a folder with the templates that were deployed');
  }
  const stack = Stack.of(table);
  const file = join(folder, stack.templateFile);
  if (!existsSync(file)) return undefined;
  const logicalId = stack.resolve((table.node.defaultChild as CfnElement).logicalId);
  return parsed(field, file)?.Resources?.[logicalId]?.Metadata?.[SHARDED_INDEXES]?.[indexName]?.shards;
}

interface DeployedTemplate {
  readonly Resources?: {
    readonly [logicalId: string]: {
      readonly Metadata?: {
        readonly [SHARDED_INDEXES]?: { readonly [indexName: string]: Pick<ShardedIndexConfig, 'shards'> };
      };
    };
  };
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
  const counts = (side: keyof ShardCount) => {
    const values = Object.entries(byValue).map(([value, count]) => [value, count[side]]);
    if (values.length === 0) return `ShardCounts.uniform(${others[side]})`;
    return `ShardCounts.byValue(${JSON.stringify(Object.fromEntries(values))}, ${others[side]})`;
  };
  const [writers, readers] = [counts('write'), counts('read')];
  return writers === readers ? writers : `${writers}.alsoReading(${readers})`;
}
