import { CfnDeletionPolicy, Lazy, Stack } from 'aws-cdk-lib';
import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';

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
