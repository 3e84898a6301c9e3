/** What a stream is expected to carry, in its busiest second. */
export interface ExpectedStreamTraffic {
  /** Records written a second, above 0. */
  readonly recordsPerSecond: number;

  /** Bytes written a second, partition keys included, at least 0. */
  readonly bytesPerSecond: number;

  /**
   * The part of every shard that is kept free for bursts, retries and growth, from 0 to 0.9.
   *
   * @default 0.25
   */
  readonly headRoom?: number;

  /**
   * Consumers that share the 2 MB a second that a shard gives: those without enhanced fan-out.
   *
   * @default 1
   */
  readonly consumers?: number;

  /**
   * How many partition keys share the records about equally, if their hashes place them: 1 to 100,000. Few keys spread
   * badly.
   *
   * @default - so many that their hashes spread evenly, or balanced explicit hash keys
   */
  readonly keys?: number;

  /**
   * The share of the busiest partition key in the records, from 0 to 1. A key hotter than a shard is not helped by more
   * of them.
   *
   * @default - 1 / `keys`, or unknown
   */
  readonly hottestKeyShare?: number;
}
