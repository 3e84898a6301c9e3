import type { ShardCount, ShardedIndexConfig } from '../sharded-index';
import { floorOf } from './adaptive-config';
import { checkGrownCount, type GrownCount } from './grown-count';

/**
 * Returns a configuration with fixed counts. The count of each value is its adaptive count, or its configured count if that is
 * larger. Unchanged parts are the same objects as in `before`, so users of the configuration check only the changed parts.
 *
 * @param before an earlier result of this function
 */
export function configWithCounts(
  config: ShardedIndexConfig,
  counts: readonly GrownCount[],
  before?: ShardedIndexConfig,
): ShardedIndexConfig {
  const { version: _version, adaptive: _adaptive, shards, ...rest } = config;
  const known = before?.shards.byValue ?? {};
  let others = shards.default;
  const byValue = new Map(Object.entries(shards.byValue ?? {}));
  for (const count of counts) {
    checkGrownCount(count);
    const { value } = count;
    const larger = largerOf(floorOf(config, value), count);
    if (value === undefined) others = sameOr(before?.shards.default, larger);
    else byValue.set(value, sameOr(known[value], larger));
  }
  const isAsBefore =
    before?.shards.default === others &&
    Object.keys(known).length === byValue.size &&
    [...byValue].every(([value, count]) => Object.hasOwn(known, value) && known[value] === count);
  if (before !== undefined && isAsBefore) return before;
  const named = byValue.size > 0 && { byValue: Object.fromEntries(byValue) };
  return { ...rest, shards: { default: others, ...named } };
}

function largerOf(a: ShardCount, b: ShardCount): ShardCount {
  return { write: Math.max(a.write, b.write), read: Math.max(a.read, b.read) };
}

function sameOr(before: ShardCount | undefined, now: ShardCount): ShardCount {
  return before?.write === now.write && before.read === now.read ? before : now;
}
