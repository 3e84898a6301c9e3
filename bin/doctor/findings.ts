/**
 * How serious a problem is. `loss`: data is lost, or queries miss it. `refused`: requests are throttled or rejected
 * now. `uneven`: the load is uneven, and AWS throttles requests when the load grows. `limit`: a limit is near. `unknown`:
 * something was not measured, so a problem is possible. `safety`: a protection of data is turned off. `cost`: the
 * stack costs more than necessary.
 */
export type Weight = 'loss' | 'refused' | 'uneven' | 'limit' | 'unknown' | 'safety' | 'cost';

export const WEIGHTS: readonly Weight[] = ['loss', 'refused', 'uneven', 'limit', 'unknown', 'safety', 'cost'];

/** Each problem that the doctor finds: its id, and its meaning by weight. The guide second-day.md has the same table. */
export const FINDINGS = {
  consumerBehind: { loss: 'a consumer is more than half of the retention period behind' },
  deadKeys: { loss: 'an ordered consumer no longer tries some keys' },
  sweepDue: { loss: 'an index keeper has not seen all changes of its table' },
  itemsSetAside: { loss: 'an index keeper has set items aside' },
  keeperBehind: { loss: 'changed items wait for an index keeper' },
  itemsNotKept: { loss: 'an index keeper has found items that it cannot keep in an index' },
  keeperTrial: { loss: 'an index keeper only counts the items that queries miss' },
  strays: { loss: 'queries cannot find some items, with `--scan`' },
  noSortKey: { loss: 'some items are not in an index, with `--scan`' },
  hotShard: { refused: 'one shard throttles writes', uneven: 'one shard gets at least 1.5 times the mean load' },
  fullStream: {
    refused: 'all shards throttle writes',
    limit: 'the busiest minute used more than three quarters of the capacity',
  },
  tooFewShards: { refused: 'an index has too few shards for its writes' },
  hotIndexKey: { refused: 'few values of an index without shards get most writes' },
  hotTableKey: { refused: 'few partition keys of a table get most writes' },
  hotItem: { refused: 'one item gets most writes' },
  fewPartitions: { refused: 'many keys share a partition that throttles writes' },
  hotPartition: { refused: 'a partition throttles writes, and its keys are not known' },
  hotReads: { refused: 'a partition throttles reads' },
  provisionedCapacity: { refused: 'the provisioned capacity is used up' },
  onDemandMaximum: { refused: 'a table reaches the maximum that you have set' },
  accountLimit: { refused: 'a table reaches its quota in the account' },
  unknownCause: { refused: 'no metric names the cause of throttles' },
  rejectedByIndex: { refused: 'an index would reject puts of some items, with `--sample`' },
  notActive: { refused: 'an index does not exist yet' },
  parkedKeys: { refused: 'records of some keys wait' },
  unevenShards: { uneven: 'shards have different numbers of hash keys' },
  missingSplits: { uneven: 'a doubling stopped halfway' },
  valuesAtMaximum: { limit: 'adaptive counts can no longer grow' },
  notMeasured: { unknown: 'something was not measured, with the reason' },
  notEncrypted: { safety: 'a stream is not encrypted' },
  noRecovery: { safety: 'a table has no point-in-time recovery' },
  idleShards: { cost: 'half of the shards of a stream would be enough' },
  idleIndexShards: { cost: 'half of the shards of an index would be enough' },
} as const satisfies Record<string, Partial<Record<Weight, string>>>;

export type FindingId = keyof typeof FINDINGS;

/** The weights that a finding can have. */
export type WeightOf<Id extends FindingId> = keyof (typeof FINDINGS)[Id] & Weight;
