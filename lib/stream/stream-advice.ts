import { Annotations, Token } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';
import { inConstructTerms } from '../construct/construct-field';
import { planStream } from '../core/planning/plan-stream';
import type { ExpectedStreamTraffic } from './expected-stream-traffic';

/**
 * Warns if a stream has fewer shards than its traffic is planned to need, and of what no number of shards fixes.
 *
 * Gives no advice where a number is only known when deployed. Throws an error with the code `INVALID_ARGUMENT` for
 * traffic outside its bounds.
 */
export function adviseOnShards(stream: IConstruct, shardCount: number, traffic: ExpectedStreamTraffic): void {
  if ([shardCount, ...Object.values(traffic)].some(Token.isUnresolved)) return;
  const { shards, boundBy, shardsIfBalanced, notFixed } = inConstructTerms(stream, 'expectedTraffic', () =>
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
  for (const sentence of notFixed) {
    Annotations.of(stream).addWarningV2(
      'cdk-even-shards:UniformStream.notFixedByShards',
      `no shard count fixes this: ${sentence}`,
    );
  }
}
