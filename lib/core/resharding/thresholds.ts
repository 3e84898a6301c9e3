/**
 * The skew up to which shards are even: the widest shard has at most 5 % more hash keys than the mean.
 *
 * Exact evenness would not be useful. AWS does not document how UpdateShardCount rounds. A boundary that is one key
 * away from its ideal position could not be moved either, because a split must leave more than one key in both halves.
 */
export const MAX_SKEW = 1.05;

/**
 * Shards are taken away if the utilization is below this part of the target. Half as many shards then have at most 80 %
 * of the target. That is so far below it that the shards are not needed again at once.
 */
export const SCALE_IN_FRACTION = 0.4;

/**
 * A load surges if it also uses this part of the capacity above the target: with a target of 70 %, from 80.5 % on. A load
 * that goes so far beyond the target within the minutes that it takes to notice will not stop at a third more.
 */
export const SURGE_FRACTION = 0.35;
