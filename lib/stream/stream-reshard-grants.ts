import type * as iam from 'aws-cdk-lib/aws-iam';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import { grantOnStream } from './stream-grants';

/** What it takes to know whether a stream is even, and how often its shard count was updated lately. */
const INSPECT = ['kinesis:DescribeStreamSummary', 'kinesis:ListShards', 'kinesis:ListTagsForStream'];

/** What it takes to update a stream's shard count and to keep count of that in a tag. */
const SCALE = [
  'kinesis:DescribeStreamSummary',
  'kinesis:ListTagsForStream',
  'kinesis:AddTagsToStream',
  'kinesis:UpdateShardCount',
];

/**
 * The least permissions for whatever looks after the shards of a stream: the constructs of this library, or your own
 * code that calls `reshardStream` of `cdk-even-shards/core`.
 *
 * None of them reads or writes records, so none needs a permission on the stream's key.
 */
export class StreamReshardGrants {
  /**
   * Permissions on any stream: a `kinesis.Stream`, an imported one, or a `kinesis.CfnStream`.
   *
   * @param stream the stream whose shards are looked after
   */
  public static fromStream(stream: kinesis.IStreamRef): StreamReshardGrants {
    return new StreamReshardGrants(stream);
  }

  private constructor(private readonly stream: kinesis.IStreamRef) {}

  /**
   * Allows to look at the shards of exactly this stream: `kinesis:DescribeStreamSummary`, `ListShards` and
   * `ListTagsForStream`. Enough for `inspectStream`.
   *
   * @param grantee the role, function or other principal that looks
   */
  public inspect(grantee: iam.IGrantable): iam.Grant {
    return grantOnStream(this.stream, grantee, INSPECT);
  }

  /**
   * Allows to update the shard count of exactly this stream: `kinesis:UpdateShardCount`, `DescribeStreamSummary`, and
   * `ListTagsForStream` and `AddTagsToStream` for the tag that keeps count of the updates.
   *
   * @param grantee the role, function or other principal that scales
   */
  public scale(grantee: iam.IGrantable): iam.Grant {
    return grantOnStream(this.stream, grantee, SCALE);
  }

  /**
   * Allows to reshard exactly this stream in every way: what `inspect` and `scale` allow, `kinesis:SplitShard` and
   * `MergeShards`. Enough for `reshardStream`.
   *
   * @param grantee the role, function or other principal that reshards
   */
  public reshard(grantee: iam.IGrantable): iam.Grant {
    const actions = new Set([...INSPECT, ...SCALE, 'kinesis:SplitShard', 'kinesis:MergeShards']);
    return grantOnStream(this.stream, grantee, [...actions]);
  }
}
