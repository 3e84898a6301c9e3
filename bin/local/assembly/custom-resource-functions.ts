import { references } from '../../../lib/cloudformation/references';
import type { Declared } from './left-out';
import { constructPath } from './local-names';

/**
 * The construct paths of the functions that only a deployment invokes. A custom resource names its function in
 * `ServiceToken`. If this function is part of the provider framework of the CDK, it has the id `framework-onEvent`, and
 * the other functions of the framework are beside it.
 */
export function customResourceFunctions(declared: readonly Declared[]): (path: string) => boolean {
  const named = new Set(
    declared.flatMap(({ scope, logicalId }) =>
      references(scope.declared(logicalId).ServiceToken, scope).map((target) =>
        constructPath(target.scope, target.logicalId),
      ),
    ),
  );
  return (path) => named.has(path) || named.has(path.replace(/\/framework-[^/]+$/, '/framework-onEvent'));
}
