import { CfnDeletionPolicy, Lazy, Stack } from 'aws-cdk-lib';
import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type { TablePropsV2 } from 'aws-cdk-lib/aws-dynamodb';
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

/** Switches point-in-time recovery on, unless it is chosen, by its property of today or by the older one. */
export function recoveryUnlessChosen({ pointInTimeRecovery }: TablePropsV2): Partial<TablePropsV2> {
  if (pointInTimeRecovery !== undefined) return {};
  return { pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true } };
}

/**
 * Deletion protection that follows the removal policy the table has in the end, unless a blueprint has chosen:
 * `RemovalPolicies.of(scope).destroy()` sets the policy after the construction, and a protected table would make the deletion
 * of the stack fail.
 */
export function protectWhileRetained(table: dynamodb.TableV2): void {
  const resource = table.node.defaultChild as dynamodb.CfnGlobalTable;
  const [replica] = Stack.of(table).resolve(resource.replicas);
  if (replica.deletionProtectionEnabled !== undefined) return;
  const isRetained = () => resource.cfnOptions.deletionPolicy !== CfnDeletionPolicy.DELETE;
  resource.addPropertyOverride('Replicas.0.DeletionProtectionEnabled', Lazy.any({ produce: isRetained }));
}
