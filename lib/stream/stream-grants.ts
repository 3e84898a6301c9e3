import { Annotations, Stack } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as kinesis from 'aws-cdk-lib/aws-kinesis';

/**
 * The least permissions that an ordered producer needs on a stream.
 *
 * `Stream.grantWrite` also allows `PutRecord`, and on a customer-managed key `Encrypt` and `ReEncrypt`, of which a
 * producer that writes by `PutRecords` needs none.
 */
export class StreamProduceGrants {
  /**
   * Permissions on any stream: a `kinesis.Stream`, an imported one, or a `kinesis.CfnStream`.
   *
   * @param stream the stream to write to; import it with its `encryptionKey` if it has a customer-managed one
   */
  public static fromStream(stream: kinesis.IStreamRef): StreamProduceGrants {
    return new StreamProduceGrants(stream);
  }

  private constructor(private readonly stream: kinesis.IStreamRef) {}

  /**
   * Allows `kinesis:PutRecords` on exactly this stream, `kinesis:ListShards` to keep to the limits of each shard, and
   * `kms:GenerateDataKey` on its customer-managed key if it has one. CDK does not know the key of a `kinesis.CfnStream`,
   * unless it is registered in `iam.EncryptedResources`: allow it on the key yourself, as a warning of synthesis says. Its
   * id is `cdk-even-shards:StreamProduceGrants.keyWithoutGrant`.
   *
   * @param grantee the role, function or other principal that writes
   */
  public produce(grantee: iam.IGrantable): iam.Grant {
    const onStream = grantOnStream(this.stream, grantee, ['kinesis:PutRecords', 'kinesis:ListShards']);
    const onKey = grantOnStreamKey(this.stream, grantee, ['kms:GenerateDataKey']);
    return onKey ? onStream.combine(onKey) : onStream;
  }
}

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
 * code that calls `reshardStream` of `cdk-even-shards/resharding`.
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
   * Allows a look at the shards of exactly this stream: `kinesis:DescribeStreamSummary`, `ListShards` and
   * `ListTagsForStream`. Enough for `inspectStream`.
   *
   * @param grantee the role, function or other principal that looks
   */
  public inspect(grantee: iam.IGrantable): iam.Grant {
    return grantOnStream(this.stream, grantee, INSPECT);
  }

  /**
   * Allows updates of the shard count of exactly this stream: `kinesis:UpdateShardCount`, `DescribeStreamSummary`, and
   * `ListTagsForStream` and `AddTagsToStream` for the tag that keeps count of the updates.
   *
   * @param grantee the role, function or other principal that scales
   */
  public scale(grantee: iam.IGrantable): iam.Grant {
    return grantOnStream(this.stream, grantee, SCALE);
  }

  /**
   * Allows every way of resharding exactly this stream: what `inspect` and `scale` allow, `kinesis:SplitShard` and
   * `MergeShards`. Enough for `reshardStream`.
   *
   * @param grantee the role, function or other principal that reshards
   */
  public reshard(grantee: iam.IGrantable): iam.Grant {
    const actions = new Set([...INSPECT, ...SCALE, 'kinesis:SplitShard', 'kinesis:MergeShards']);
    return grantOnStream(this.stream, grantee, [...actions]);
  }
}

/**
 * Allows actions on exactly this stream: to a principal of another account by the policy of the stream as well, which a
 * `kinesis.IStream` has and a resource of CloudFormation has not.
 */
export function grantOnStream(stream: kinesis.IStreamRef, grantee: iam.IGrantable, actions: string[]): iam.Grant {
  if (isL2(stream)) return stream.grant(grantee, ...actions);
  return iam.Grant.addToPrincipal({ grantee, actions, resourceArns: [stream.streamRef.streamArn] });
}

/**
 * Allows actions on the customer-managed key of a stream, if it has one. Of a `CfnStream` CDK knows its key by what is
 * registered in `iam.EncryptedResources`; synthesis warns of one that is not.
 */
function grantOnStreamKey(
  stream: kinesis.IStreamRef,
  grantee: iam.IGrantable,
  actions: string[],
): iam.Grant | undefined {
  if (isL2(stream)) return stream.encryptionKey?.grant(grantee, ...actions);
  const encrypted = iam.EncryptedResources.of(stream);
  if (encrypted !== undefined) return encrypted.grantOnKey(grantee, ...actions).grant;
  const keyId = stream instanceof kinesis.CfnStream ? keyIdOf(stream) : undefined;
  if (keyId === undefined || keyId === KEY_OF_AWS) return undefined;
  Annotations.of(stream).addWarningV2(
    'cdk-even-shards:StreamProduceGrants.keyWithoutGrant',
    `${actions.join(' and ')} could not be allowed on the key of the stream to ${grantee.grantPrincipal}: allow it on the ` +
      'key, or give the stream as a kinesis.Stream with its encryptionKey',
  );
  return undefined;
}

/** The key that AWS manages, which needs no permission. */
const KEY_OF_AWS = 'alias/aws/kinesis';

function keyIdOf(stream: kinesis.CfnStream): unknown {
  return Stack.of(stream).resolve(stream.streamEncryption)?.keyId;
}

function isL2(stream: kinesis.IStreamRef): stream is kinesis.IStream {
  return 'grantReadWrite' in stream;
}
