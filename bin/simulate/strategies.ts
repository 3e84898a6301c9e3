import { alternatingKey, leftToRightKey } from '../../lib/core/planning/earlier-key-orders';
import { balancedKey } from '../../lib/core/registry/balanced-key';
import { BalancedKeyAllocator } from '../../lib/core/registry/balanced-key-allocator';
import { uniformRanges } from '../../lib/core/stream-format/hash-key-ranges';
import { hashPartitionKey } from '../../lib/core/stream-format/hash-key-space';

/** A strategy that places records. `title` is for people and `name` for programs. */
export interface Strategy {
  name: string;
  title: string;
  /** `keys`: a stream, where all records of a key share a shard. `items`: an index, where each record has its own shard. */
  places: 'keys' | 'items';
}

export type KeyRecords = readonly (readonly [key: string, records: number])[];

/** A strategy that gives each key a hash key. */
export interface HashKeyStrategy extends Strategy {
  /** Whether the strategy places the busiest key first. Otherwise it places the keys in the order of the input. */
  busiestFirst?: boolean;
  /**
   * Returns a function that gives each key its hash key in a stream of `shards`. Call the function for each key, in
   * order.
   */
  assigner(shards: number): (key: string, records: number, n: number) => bigint;
}

export const PARTITION_KEY: HashKeyStrategy = {
  name: 'partition-key',
  title: 'partition key (MD5)',
  places: 'keys',
  assigner: () => hashPartitionKey,
};

export const ALLOCATOR_BY_WEIGHT: HashKeyStrategy = {
  name: 'allocator-by-weight',
  title: 'allocator by weight',
  places: 'keys',
  busiestFirst: true,
  assigner: (shards) => {
    const allocator = new BalancedKeyAllocator({ ranges: uniformRanges(shards) });
    return (_, records) => allocator.allocate(records);
  },
};

export const HASH_KEY_STRATEGIES: readonly HashKeyStrategy[] = [
  PARTITION_KEY,
  inOrder('left-to-right', 'left to right', leftToRightKey),
  inOrder('alternating', 'alternating', alternatingKey),
  inOrder('balanced', 'balanced', balancedKey),
  {
    name: 'allocator',
    title: 'allocator',
    places: 'keys',
    assigner: (shards) => {
      const allocator = new BalancedKeyAllocator({ ranges: uniformRanges(shards) });
      return () => allocator.allocate();
    },
  },
  ALLOCATOR_BY_WEIGHT,
];

export const RANDOM_SUFFIX: Strategy = { name: 'random-suffix', title: 'random suffix', places: 'items' };
export const CALCULATED_SUFFIX: Strategy = { name: 'calculated-suffix', title: 'calculated suffix', places: 'items' };
export const WEIGHTED_SUFFIX: Strategy = { name: 'weighted-suffix', title: 'suffixes by weight', places: 'items' };
export const PRODUCT_SUFFIX: Strategy = {
  name: 'product-suffix',
  title: 'product of code points',
  places: 'items',
};

/** Sorts keys by their records, with the busiest key first. Equal keys keep their order. */
export function busiestFirst(keys: KeyRecords): KeyRecords {
  return [...keys].sort(([, a], [, b]) => b - a);
}

function inOrder(name: string, title: string, nth: (n: number) => bigint): HashKeyStrategy {
  return { name, title, places: 'keys', assigner: () => (_key, _records, n) => nth(n) };
}
