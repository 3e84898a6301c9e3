import type { TablePropsV2 } from 'aws-cdk-lib/aws-dynamodb';

/** Switches point-in-time recovery on, unless it is chosen, by its property of today or by the older one. */
export function recoveryUnlessChosen({ pointInTimeRecovery }: TablePropsV2): Partial<TablePropsV2> {
  if (pointInTimeRecovery !== undefined) return {};
  return { pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true } };
}
