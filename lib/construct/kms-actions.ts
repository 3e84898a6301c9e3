import * as iam from 'aws-cdk-lib/aws-iam';
import * as kms from 'aws-cdk-lib/aws-kms';

/**
 * What a principal needs on the customer-managed key of a table to write its items. Each by its name: CDK's own grants also
 * allow data keys without plaintext and in pairs. Source: the DynamoDB developer guide, "Encryption at rest".
 */
export const TABLE_WRITE_KEY_ACTIONS = [
  'kms:Decrypt',
  'kms:Encrypt',
  'kms:GenerateDataKey',
  'kms:ReEncryptFrom',
  'kms:ReEncryptTo',
];

/**
 * Allows actions on a key. An imported key, such as that of a replica, is named by its ARN: its own grant allows the actions on every
 * key, once the grantee is in another region than the stack that imports it.
 */
export function grantOnKey(key: kms.IKey, grantee: iam.IGrantable, actions: readonly string[]): iam.Grant {
  if (key instanceof kms.Key) return key.grant(grantee, ...actions);
  return iam.Grant.addToPrincipal({ grantee, actions: [...actions], resourceArns: [key.keyArn] });
}
