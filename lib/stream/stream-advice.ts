import { Annotations, Token } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';
import { inConstructTerms } from '../construct/props';
import { planStream } from '../core/planning/plan-stream';
import { describeExceeded } from '../core/planning/service-limits';

/** The traffic that you expect for a stream, in its busiest second. */
export interface ExpectedStreamTraffic {
  /** Records written per second, above 0. */
  readonly recordsPerSecond: number;

  /** Bytes written per second, including partition keys, at least 0. */
  readonly bytesPerSecond: number;

  /**
   * The part of each shard that stays free for bursts, retries and growth, from 0 to 0.9.
   *
   * @default 0.25
   */
  readonly headRoom?: number;

  /**
   * The number of consumers without enhanced fan-out. They share the 2 MB per second that a shard delivers.
   *
   * @default 1
   */
  readonly consumers?: number;

  /**
   * The number of partition keys, if they have about equal traffic and no explicit hash keys: 1 to 100,000. The hashes
   * of few keys spread unevenly over the shards.
   *
   * @default - synthesis assumes that there are enough keys for an even spread, or that all keys have balanced explicit
   *   hash keys
   */
  readonly keys?: number;

  /**
   * The number of records with the busiest partition key, divided by the number of all records: from 0 to 1. If this
   * key needs more than one shard, more shards do not help.
   *
   * @default - 1 / `keys` if you set `keys`; otherwise unknown
   */
  readonly hottestKeyShare?: number;
}

/**
 * Warns if a stream has too few shards for its expected traffic, or if no number of shards can carry the traffic.
 *
 * Gives no advice if a number is a token.
 *
 * @throws an error with the code `INVALID_ARGUMENT` if a number in `traffic` is out of bounds
 */
export function adviseOnShards(stream: IConstruct, shardCount: number, traffic: ExpectedStreamTraffic): void {
  if ([shardCount, ...Object.values(traffic)].some(Token.isUnresolved)) return;
  const { shards, boundBy, shardsIfBalanced, notFixed, exceeded } = inConstructTerms(stream, 'expectedTraffic', () =>
    planStream(traffic),
  );
  if (shardCount < shards) {
    const balanced =
      shardsIfBalanced < shards
        ? ` (or to ${shardsIfBalanced}, if every partition key has a balanced explicit hash key)`
        : '';
    Annotations.of(stream).addWarningV2(
      'cdk-even-shards:UniformStream.tooFewShards',
      `${shardCount} shard(s) are too few for the expected traffic: set shardCount to ${shards}${balanced} (the rule "${boundBy}" needs this count)`,
    );
  }
  for (const limit of exceeded) {
    Annotations.of(stream).addWarningV2(
      'cdk-even-shards:UniformStream.serviceLimit',
      `the expected traffic exceeds a limit: ${describeExceeded(limit)}`,
    );
  }
  for (const sentence of notFixed) {
    Annotations.of(stream).addWarningV2(
      'cdk-even-shards:UniformStream.notFixedByShards',
      `no shard count fixes this: ${sentence}`,
    );
  }
}
