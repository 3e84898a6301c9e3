import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import type * as kms from 'aws-cdk-lib/aws-kms';

/** A registry that exists, as `HashKeyRegistry.fromHashKeyRegistryAttributes` takes it. */
export interface HashKeyRegistryAttributes {
  /** The ARN of the registry's function, without a version or an alias: `functionArn` in the app that has the registry. */
  readonly functionArn: string;

  /** The ARN of the registry's table: `tableArn` in the app that has the registry. */
  readonly tableArn: string;

  /** The stream that the keys are for, of this app or imported. */
  readonly stream: kinesis.IStreamRef;

  /**
   * The customer-managed key that the table is encrypted with. `grants.read` allows to decrypt with it.
   *
   * @default - the table is encrypted with a key that DynamoDB owns
   */
  readonly encryptionKey?: kms.IKey;
}
