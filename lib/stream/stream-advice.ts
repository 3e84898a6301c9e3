import { Annotations, Token } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';
import { inConstructTerms } from '../construct/props';
import { planStream } from '../core/planning/plan-stream';
import { describeExceeded } from '../core/planning/service-limits';

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

/**
 * Warns if a stream has fewer shards than its traffic is planned to need, and of what no number of shards fixes.
 *
 * Gives no advice where a number is only known when deployed.
 *
 * @throws an error with the code `INVALID_ARGUMENT` for traffic outside its bounds
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
      `${shardCount} shard(s) are too few for the expected traffic: set shardCount to ${shards}${balanced}, as ${boundBy} needs`,
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
