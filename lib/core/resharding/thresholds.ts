/**
 * The maximum skew of even shards: the widest shard has at most 5 % more hash keys than the mean of all shards.
 *
 * Exactly even shards are not required. AWS does not document how UpdateShardCount rounds. A boundary cannot be moved by one
 * key, because a split must leave more than one key in both halves.
 */
export const MAX_SKEW = 1.05;

/**
 * The stream scales down if the utilization is below this part of the target. With half the shards, the utilization is then at
 * most 80 % of the target, so the stream does not soon need the removed shards again.
 */
export const SCALE_IN_FRACTION = 0.4;

/**
 * A load is surging if it uses at least this part of the capacity above the target. With a target of 70 %, a load is surging
 * from a utilization of 80.5 % on. If a load rises so far above the target before the alarm changes, a third more shards will
 * not be enough.
 */
export const SURGE_FRACTION = 0.35;
