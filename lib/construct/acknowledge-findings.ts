import * as cdk from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/** `Validations`, in an `aws-cdk-lib` that has this class. */
interface ValidationsOfNewerCdk {
  readonly Validations?: {
    of(scope: IConstruct): { acknowledge(...findings: { id: string; reason: string }[]): void };
  };
}

/**
 * Acknowledges findings of cdk-nag 3 in a construct. An `aws-cdk-lib` without `Validations` does nothing, because
 * cdk-nag 3 needs a version that has this class.
 */
export function acknowledgeFindings(scope: IConstruct, ...findings: { id: string; reason: string }[]): void {
  (cdk as ValidationsOfNewerCdk).Validations?.of(scope).acknowledge(...findings);
}
