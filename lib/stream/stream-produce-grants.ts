import type * as iam from 'aws-cdk-lib/aws-iam';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';

/**
 * The least permissions that an ordered producer needs on a stream.
 *
 * `Stream.grantWrite` also allows `PutRecord`, and on a customer-managed key `Encrypt` and `ReEncrypt`, of which a
 * producer that writes by `PutRecords` needs none.
 */
export class StreamProduceGrants {
  /**
   * Permissions on any stream, imported ones included.
   *
   * @param stream the stream to write to; import it with its `encryptionKey` if it has a customer-managed one
   */
  public static fromStream(stream: kinesis.IStream): StreamProduceGrants {
    return new StreamProduceGrants(stream);
  }

  private constructor(private readonly stream: kinesis.IStream) {}

  /**
   * Allows `kinesis:PutRecords` on exactly this stream, `kinesis:ListShards` to keep to the limits of each shard, and
   * `kms:GenerateDataKey` on its customer-managed key if it has one.
   *
   * @param grantee the role, function or other principal that writes
   */
  public produce(grantee: iam.IGrantable): iam.Grant {
    const onStream = this.stream.grant(grantee, 'kinesis:PutRecords', 'kinesis:ListShards');
    const onKey = this.stream.encryptionKey?.grant(grantee, 'kms:GenerateDataKey');
    return onKey ? onStream.combine(onKey) : onStream;
  }
}
