import { Annotations, Stack } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as kinesis from 'aws-cdk-lib/aws-kinesis';
import { grantOnKey } from '../construct/grant-on-key';
import { warnIfWithoutEffect } from '../construct/grant-without-effect';

/**
 * Grants the least permissions that an ordered producer needs on a stream.
 *
 * `Stream.grantWrite` also allows `PutRecord`, and `Encrypt` and `ReEncrypt` on a customer-managed key. A producer that
 * calls `PutRecords` does not need these permissions.
 */
export class StreamProduceGrants {
  /**
   * Returns the grants of a stream: a `kinesis.Stream`, an imported stream, or a `kinesis.CfnStream`.
   *
   * @param stream the stream to write to. Import a stream with its `encryptionKey` if it has a customer-managed key
   */
  public static fromStream(stream: kinesis.IStreamRef): StreamProduceGrants {
    return new StreamProduceGrants(stream);
  }

  private constructor(private readonly stream: kinesis.IStreamRef) {}

  /**
   * Allows `kinesis:PutRecords` and `kinesis:ListShards` on this stream, and `kms:GenerateDataKey` on its
   * customer-managed key if there is one. The producer reads the shards to stay within the limits of each shard.
   *
   * CDK knows the key of a `kinesis.CfnStream` only if the stream is registered in `iam.EncryptedResources`. Otherwise
   * synthesis warns (`cdk-even-shards:StreamProduceGrants.keyWithoutGrant`), and you must allow `kms:GenerateDataKey`
   * on the key yourself.
   *
   * @param grantee the role, function or other principal that writes records
   */
  public produce(grantee: iam.IGrantable): iam.Grant {
    const onStream = grantOnStream(this.stream, grantee, ['kinesis:PutRecords', 'kinesis:ListShards']);
    const onKey = grantOnStreamKey(this.stream, grantee, ['kms:GenerateDataKey']);
    return onKey ? onStream.combine(onKey) : onStream;
  }
}

/** Actions that read the shards of a stream and the recent updates of its shard count. */
const INSPECT = ['kinesis:DescribeStreamSummary', 'kinesis:ListShards', 'kinesis:ListTagsForStream'];

/** Actions that update the shard count of a stream and count the updates in a tag. */
const SCALE = [
  'kinesis:DescribeStreamSummary',
  'kinesis:ListTagsForStream',
  'kinesis:AddTagsToStream',
  'kinesis:UpdateShardCount',
];

/**
 * Grants the least permissions to inspect, scale or reshard a stream. The constructs of this library use these grants.
 * Use them for your own code that calls `reshardStream` of `cdk-even-shards/resharding`.
 *
 * No grant includes the stream's key, because these actions do not read or write records.
 */
export class StreamReshardGrants {
  /**
   * Returns the grants of a stream: a `kinesis.Stream`, an imported stream, or a `kinesis.CfnStream`.
   *
   * @param stream the stream to inspect, scale or reshard
   */
  public static fromStream(stream: kinesis.IStreamRef): StreamReshardGrants {
    return new StreamReshardGrants(stream);
  }

  private constructor(private readonly stream: kinesis.IStreamRef) {}

  /**
   * Allows `kinesis:DescribeStreamSummary`, `ListShards` and `ListTagsForStream` on this stream. `inspectStream` needs
   * these permissions.
   *
   * @param grantee the role, function or other principal that inspects the stream
   */
  public inspect(grantee: iam.IGrantable): iam.Grant {
    return grantOnStream(this.stream, grantee, INSPECT);
  }

  /**
   * Allows updates of the shard count of this stream: `kinesis:UpdateShardCount`, `DescribeStreamSummary`, and
   * `ListTagsForStream` and `AddTagsToStream` for the tag that counts the updates.
   *
   * @param grantee the role, function or other principal that scales the stream
   */
  public scale(grantee: iam.IGrantable): iam.Grant {
    return grantOnStream(this.stream, grantee, SCALE);
  }

  /**
   * Allows resharding of this stream: `kinesis:SplitShard`, `MergeShards`, and the permissions of `inspect` and
   * `scale`. `reshardStream` needs these permissions.
   *
   * @param grantee the role, function or other principal that reshards the stream
   */
  public reshard(grantee: iam.IGrantable): iam.Grant {
    const actions = new Set([...INSPECT, ...SCALE, 'kinesis:SplitShard', 'kinesis:MergeShards']);
    return grantOnStream(this.stream, grantee, [...actions]);
  }
}

/**
 * Allows actions on a stream. For a principal of another account, a `kinesis.IStream` also adds the permission to the
 * resource policy of the stream. Warns if it cannot do so, for an imported stream or a `kinesis.CfnStream`.
 */
export function grantOnStream(stream: kinesis.IStreamRef, grantee: iam.IGrantable, actions: string[]): iam.Grant {
  const grant = isL2(stream)
    ? stream.grant(grantee, ...actions)
    : iam.Grant.addToPrincipal({ grantee, actions, resourceArns: [stream.streamRef.streamArn] });
  return warnIfWithoutEffect(stream, grant, {
    grantee,
    actions,
    construct: 'UniformStream',
    name: `the stream ${stream.node.id}`,
    hasOwnPolicy: stream instanceof kinesis.Stream,
    remedy: 'allow it in the resource policy of the stream, where the stream is defined',
  });
}

/** `EncryptedResources`, in an `aws-cdk-lib` that has this class. */
interface RegistryOfNewerCdk {
  readonly EncryptedResources?: {
    of(stream: kinesis.IStreamRef): { grantOnKey(grantee: iam.IGrantable, ...actions: string[]): KeyGrant } | undefined;
  };
}

interface KeyGrant {
  readonly grant?: iam.Grant;
}

/**
 * Allows actions on the customer-managed key of a stream, if there is one. CDK knows the key of a `CfnStream` only if
 * the stream is registered in `iam.EncryptedResources`. Otherwise synthesis warns.
 */
function grantOnStreamKey(
  stream: kinesis.IStreamRef,
  grantee: iam.IGrantable,
  actions: string[],
): iam.Grant | undefined {
  if (isL2(stream)) return stream.encryptionKey && grantOnKey(stream.encryptionKey, grantee, actions, 'UniformStream');
  const { EncryptedResources } = iam as RegistryOfNewerCdk;
  const encrypted = EncryptedResources?.of(stream);
  if (encrypted !== undefined) return encrypted.grantOnKey(grantee, ...actions).grant;
  const keyId = stream instanceof kinesis.CfnStream ? keyIdOf(stream) : undefined;
  if (keyId === undefined || keyId === KEY_OF_AWS) return undefined;
  Annotations.of(stream).addWarningV2(
    'cdk-even-shards:StreamProduceGrants.keyWithoutGrant',
    `cannot allow ${actions.join(' and ')} on the key of the stream for ${grantee.grantPrincipal}: allow it on the ` +
      'key, or pass the stream as a kinesis.Stream with its encryptionKey',
  );
  return undefined;
}

/** The AWS managed key. Producers need no permission on this key. */
const KEY_OF_AWS = 'alias/aws/kinesis';

function keyIdOf(stream: kinesis.CfnStream): unknown {
  return Stack.of(stream).resolve(stream.streamEncryption)?.keyId;
}

function isL2(stream: kinesis.IStreamRef): stream is kinesis.IStream {
  return 'grantReadWrite' in stream;
}
