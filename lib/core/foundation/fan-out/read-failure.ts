/**
 * What a failed read means: `throttled`, the shard has too much to do; `passing`, the same read may succeed; `final`, it
 * will not.
 */
export type ReadFailure = 'throttled' | 'passing' | 'final';
