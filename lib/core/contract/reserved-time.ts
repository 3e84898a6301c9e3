/**
 * The last part of an invocation, in which a bundled function starts no work, so that it can still return a response. The
 * handlers stop at these times, and the constructs derive the shortest timeout of a function from them.
 */
export const RESERVED_MS = {
  /** The function needs this time to serialize and send 6 MB. */
  query: 1_000,
  keyspacesQuery: 1_000,
  /** Requests in flight can still get a response. */
  producer: 1_000,
  registry: 500,
  itemMover: 15_000,
  /** A correction in flight can still get a response. */
  keeper: 5_000,
  /** Only a repair stops early. Kinesis completes an operation in progress, and the next run continues the repair. */
  repair: 15_000,
} as const;
