import { EvenShardsError } from '../../lib/core/kernel/errors';
import { counted } from '../plain-text';
import type { DeploymentPlan } from './assembly/deployment-plan';
import { describeIgnored } from './assembly/ignored-properties';
import { describeLeftOut } from './assembly/left-out';

/** With `--strict`, a run does not start if it differs from AWS. */
export class StrictRunError extends EvenShardsError {
  constructor(readonly differences: readonly string[]) {
    super(
      'STRICT',
      [`the local run differs from AWS in ${counted(differences.length, 'line')}:`, ...differences].join('\n'),
    );
  }
}

/** Lists all properties, resources and environment variables that a run leaves out and the app can notice. */
export function differencesOf({ functions, ignored, leftOut }: DeploymentPlan, pathsInLine?: number): string[] {
  return [
    ...describeIgnored(ignored, pathsInLine),
    ...functions.flatMap(({ path, unset }) =>
      Object.entries(unset).map(([name, reason]) => `not set: ${name} of ${path}, ${reason}`),
    ),
    ...describeLeftOut(leftOut, pathsInLine),
  ];
}
