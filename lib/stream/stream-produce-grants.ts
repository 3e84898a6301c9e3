import type * as iam from 'aws-cdk-lib/aws-iam';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import { grantOnStream, grantOnStreamKey } from './stream-grants';

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
