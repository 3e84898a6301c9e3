import type { FindingId, WeightOf } from './findings';
import type { HotLoad } from './hot-load';
import type { UnshardedKey } from './observations';

/** The ids of throttled requests. */
type ThrottlingId = { [Id in FindingId]: 'refused' extends WeightOf<Id> ? Id : never }[FindingId];

interface Advice {
  readonly id: ThrottlingId;
  /** Whether shards help, after "do shards help:". */
  readonly helps: string;
  readonly change: string;
}

/** The advice for each kind of load that throttles a partition: whether shards help, and the change. */
export const ADVICE = {
  hotKey: ({ indexName }) =>
    indexName === undefined
      ? {
          id: 'hotTableKey',
          helps:
            'yes, if the writes of the busy key go to many items. A shard must be a part of the key, so the items need a new table',
          change: 'create a KeyShardedTable, and move the items and the writers to it',
        }
      : {
          id: 'hotIndexKey',
          helps:
            'yes. The writes of the busy key are then divided among partitions, and the index no longer throttles the table',
          change:
            'add a sharded index beside this index, let writers set its attributes, move the readers, and then remove this index',
        },
  hotItem: () => ({
    id: 'hotItem',
    helps: 'no. One item gets the writes, and an item is in one partition',
    change:
      'write to the item less often, such as by adding up changes in the application, or divide it into several items',
  }),
  manyKeys: ({ warmWriteUnits, throughput: { writes }, indexName }) => {
    const demand = Math.ceil((writes.peakUnits ?? 0) + (writes.peakThrottled ?? 0));
    const now = warmWriteUnits === undefined ? '' : `, now ${warmWriteUnits.toLocaleString('en')}`;
    return {
      id: 'fewPartitions',
      helps:
        'no. No single key is too busy: many keys share a partition, and DynamoDB splits a partition that stays hot',
      change: `set warmThroughput of ${nounOf(indexName)} to writeUnitsPerSecond: ${Math.max(4_000, 2 * demand)}${now}, before the next load; warm throughput cannot be lowered`,
    };
  },
  sharded: () => ({
    id: 'hotPartition',
    helps: 'the index already has shards, as its key shows',
    change:
      'run `npx even-shards doctor --stack NAME`, which knows the shard counts of the index and says whether they are too few',
  }),
  unknown: ({ indexName }) => {
    const ofTable = indexName === undefined ? '; the shards of an index do not help its table' : '';
    return {
      id: 'hotPartition',
      helps: `only if few keys get the writes. The busiest keys are not measured${ofTable}`,
      change: `measure the busiest keys of ${nounOf(indexName)} first. If few keys get the writes, use the code below${ofTable}`,
    };
  },
} as const satisfies Record<HotLoad['kind'], (unsharded: UnshardedKey) => Advice>;

function nounOf(indexName: string | undefined): string {
  return indexName === undefined ? 'the table' : 'the index';
}
