import { references } from '../../../lib/cloudformation/references';
import type { Declared } from './left-out';
import { constructPath, type LocalScope } from './local-names';

/** The types with which an app invokes its functions. */
const INVOKING = /^AWS::(?:Events::Rule|Lambda::(?:Alias|EventSourceMapping|Function))$/;

/**
 * The construct paths of the functions that only a deployment invokes. A custom resource names its function in
 * `ServiceToken`. If this function is part of the provider framework of the CDK, it has the id `framework-onEvent`, and
 * the other functions of the framework are beside it.
 */
export function customResourceFunctions(declared: readonly Declared[]): (path: string) => boolean {
  const pathsIn = (value: unknown, scope: LocalScope) =>
    references(value, scope).map((target) => constructPath(target.scope, target.logicalId));
  const named = new Set(
    declared.flatMap(({ scope, logicalId }) => pathsIn(scope.declared(logicalId).ServiceToken, scope)),
  );
  const isNamed = (path: string) =>
    named.has(path) || named.has(path.replace(/\/framework-[^/]+$/, '/framework-onEvent'));
  const invoking = declared.filter(({ type, path }) => INVOKING.test(type) && !isNamed(path));
  const used = new Set(invoking.flatMap(({ scope, logicalId }) => pathsIn(scope.declared(logicalId), scope)));
  return (path) => isNamed(path) && !used.has(path);
}
