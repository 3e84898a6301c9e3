import { CfnDeletionPolicy, Lazy, Stack } from 'aws-cdk-lib';
import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type { TablePropsV2 } from 'aws-cdk-lib/aws-dynamodb';

/** Turns on point-in-time recovery, unless the user set the deprecated property `pointInTimeRecovery`. */
export function recoveryUnlessChosen({ pointInTimeRecovery }: TablePropsV2): Partial<TablePropsV2> {
  if (pointInTimeRecovery !== undefined) return {};
  return { pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true } };
}

/**
 * Protects a table from deletion if its final removal policy retains the table, unless a blueprint chose the
 * protection. Reads the policy at synthesis, because `RemovalPolicies.of(scope).destroy()` can change it after
 * construction. A table with the removal policy `DESTROY` must not be protected, because the deletion of its stack
 * would fail.
 */
export function protectWhileRetained(table: dynamodb.TableV2): void {
  const resource = table.node.defaultChild as dynamodb.CfnGlobalTable;
  const isRetained = () => resource.cfnOptions.deletionPolicy !== CfnDeletionPolicy.DELETE;
  // The oldest supported aws-cdk-lib caches the replicas when they are first resolved. A resource policy that is added
  // later would then be lost, so this function resolves the replicas at synthesis.
  const produce = () => Stack.of(table).resolve(resource.replicas)[0].deletionProtectionEnabled ?? isRetained();
  resource.addPropertyOverride('Replicas.0.DeletionProtectionEnabled', Lazy.any({ produce }));
}
