/**
 * What a failed read means. `throttled`: the shard has too much to do. `transient`: another attempt can overcome the
 * failure. `final`: every further attempt will fail too.
 */
export type ReadFailure = 'throttled' | 'transient' | 'final';
