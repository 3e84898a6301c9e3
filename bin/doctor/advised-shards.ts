import { InvalidArgumentError } from '../../lib/core/kernel/errors';
import { type IndexPlan, type IndexTraffic, planIndex } from '../../lib/core/planning/plan-index';
import { MAX_INDEX_SHARDS } from '../../lib/core/sharding/shard-count';
import { dollars } from '../plain-text';
import { importedIndexSnippet, indexSnippet, type ShardNumbers, tableSnippet } from '../plan/cdk-snippet';
import { formulaLines, formulaNumber, planLines } from '../plan/shard-numbers';
import type { Details } from './diagnosis';
import { adoptionGuide } from './diagnosis';
import type { BusyKey, HotLoad } from './hot-load';
import type { UnshardedKey } from './observations';
import type { AdviceOptions } from './shown-keys';
import { shownKey } from './shown-keys';

/** The keys of a hot load that are not among the busiest keys are in the plan as one value. */
const OTHERS = '';

/** The number of shards for a hot load, their risk and cost, the CDK code, and the steps. Without code, no number is enough. */
export function advisedShards(
  unsharded: UnshardedKey,
  demand: number,
  load: HotLoad,
  options: AdviceOptions,
): { readonly lines: readonly string[] } & Pick<Details, 'code' | 'guide'> {
  // The metrics count units, so an entry of one unit stands for each unit. Only the cost of pages depends on the size.
  const traffic: IndexTraffic = {
    writesPerSecond: Math.max(demand, 1),
    itemKb: Math.min(unsharded.itemKb, 1),
    ...(load.kind === 'hotKey' && { shares: sharesOf(load.keys) }),
  };
  const plan = planUnlessTooLarge(traffic);
  if (plan === undefined) return { lines: [TOO_MANY] };
  const { monthlyCost } = plan;
  const cost = `cost: shards do not change the cost of writes, about ${dollars(monthlyCost.writes)} a month at this load (${monthlyCost.prices}); each page costs more`;
  return {
    lines: [...formulaLines(formulaNumber(traffic, plan), plan), ...planLines(plan), cost],
    ...codeOf(unsharded, withNames(plan, load, options), options),
  };
}

const TOO_MANY = `shards: this demand needs more than ${MAX_INDEX_SHARDS.toLocaleString('en')} shards, and a query reads every shard for each page`;

function planUnlessTooLarge(traffic: IndexTraffic): IndexPlan | undefined {
  try {
    return planIndex(traffic);
  } catch (error) {
    if (error instanceof InvalidArgumentError) return undefined;
    throw error;
  }
}

function sharesOf(keys: readonly BusyKey[]): Record<string, number> {
  const rest = 1 - keys.reduce((sum, { share }) => sum + share, 0);
  return {
    ...Object.fromEntries(keys.map(({ value, share }) => [value, share])),
    ...(rest > 0.001 && { [OTHERS]: rest }),
  };
}

/** The plan with the busy keys, or with variables for hidden keys. Without busy keys, all values have the same count. */
function withNames({ byValue, ...uniform }: IndexPlan, { kind }: HotLoad, options: AdviceOptions): ShardNumbers {
  if (kind !== 'hotKey' || byValue === undefined) return uniform;
  const named = Object.entries(byValue).filter(([value]) => value !== OTHERS);
  return {
    ...uniform,
    byValue: Object.fromEntries(named.map(([value, count], n) => [shownKey(value, n, options), count])),
    hasVariables: !options.showKeys,
  };
}

function codeOf(
  { key, table, tableName, indexName, owner }: UnshardedKey,
  plan: ShardNumbers,
  { language }: AdviceOptions,
): Pick<Details, 'code' | 'guide'> {
  const ofOwner =
    owner === 'TableV2' ? 'same-app-and-same-id' : owner === 'Table' ? 'same-app-not-convertible' : 'another-owner';
  if (indexName === undefined) {
    const code = tableSnippet(plan, { ...table, id: `Sharded${table.id}` }, language);
    return { code, guide: adoptionGuide(ofOwner === 'another-owner' ? ofOwner : 'same-app-not-convertible') };
  }
  const value = key.find(({ role }) => role === 'partition');
  const sortKey = key.find(({ role }) => role === 'sort');
  const index = { table, indexName: `${indexName}Sharded`, ...(value && { value }), ...(sortKey && { sortKey }) };
  const code =
    owner === 'TableV2' ? indexSnippet(plan, index, language) : importedIndexSnippet(plan, index, tableName, language);
  return { code, guide: adoptionGuide(ofOwner) };
}
