import { EvenShardsError } from '../../lib/core/kernel/errors';
import { counted } from '../plain-text';
import type { DeploymentPlan } from './assembly/deployment-plan';
import { describeIgnored } from './assembly/ignored-properties';
import { describeLeftOut } from './assembly/left-out';
import { importProblems } from './functions/import-problems';

/** With `--strict`, a run does not start if it differs from AWS. */
export class StrictRunError extends EvenShardsError {
  constructor(readonly differences: readonly string[]) {
    super(
      'STRICT',
      [`the local run differs from AWS in ${counted(differences.length, 'line')}:`, ...differences].join('\n'),
    );
  }
}

/**
 * Lists the differences of a run from AWS: layouts of indexes, missing packages, and left-out properties, resources and
 * environment variables. The start prints the list, and a run with `--strict`
 * starts only if the list is empty.
 *
 * @param packages the folders in which functions find the packages of Lambda's runtime
 */
export function differencesOf(
  { functions, ignored, leftOut, tables }: DeploymentPlan,
  packages: readonly string[],
  pathsInLine?: number,
): string[] {
  return [
    ...tables.flatMap(({ path, converted }) =>
      converted.map(
        (name) =>
          `index ${name} of ${path} has the single-attribute layout here, because dynalite lacks multi-attribute keys; ` +
          'the deployed index keeps its own layout, and rejects items with another type of its value',
      ),
    ),
    ...importProblems(functions, packages),
    ...describeIgnored(ignored, pathsInLine),
    ...functions.flatMap(({ path, unset }) =>
      Object.entries(unset).map(([name, reason]) => `not set: ${name} of ${path}, ${reason}`),
    ),
    ...describeLeftOut(leftOut, pathsInLine),
  ];
}
