/**
 * The skew up to which a stream counts as even: its widest shard has at most 5 % more hash keys than the mean.
 *
 * Exact evenness would be no use: nobody documents how UpdateShardCount rounds, and boundaries that are a key apart could
 * not be moved, for a split must leave both halves more than a key.
 */
export const MAX_SKEW = 1.05;

/**
 * Under which part of the target utilisation shards are taken away. Half the shards then have at most 80 % of the target:
 * far enough from it that they are not given back at once.
 */
export const SCALE_IN_FRACTION = 0.4;
