import type { IConstruct } from 'constructs';
import { EvenShardsError } from '../core/kernel/errors';

/**
 * Adds a check to synthesis, for properties that an app can still change after it has created the construct. CDK reports
 * the problems of all checks together, not only the first problem.
 */
export function checkAtSynthesis(scope: IConstruct, check: () => void): void {
  scope.node.addValidation({ validate: () => problemsOf(check) });
}

/** Runs a check and returns its error message as a list. The list is empty if the check succeeds. */
export function problemsOf(check: () => void): string[] {
  try {
    check();
    return [];
  } catch (error) {
    if (!(error instanceof EvenShardsError)) throw error;
    return [error.message];
  }
}
