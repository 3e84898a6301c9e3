import type * as kms from 'aws-cdk-lib/aws-kms';

/** What identifies a hash key registry, and all that permissions on it need to know. */
export interface IHashKeyRegistryRef {
  /** The ARN of the function that answers requests. */
  readonly functionArn: string;

  /** The ARN of the table that has the owners. Change the table through the function alone. */
  readonly tableArn: string;

  /** The customer-managed key that the table is encrypted with, if it has one. */
  readonly encryptionKey?: kms.IKey;
}
