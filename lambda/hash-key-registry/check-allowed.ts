import { EvenShardsError } from '../../lib/core/kernel/errors';
import { ACTIONS_BY_ALIAS } from '../../lib/core/registry/registry-contract';

/** The caller used an alias that does not allow the action. The function has read and written nothing. */
class ActionNotAllowedError extends EvenShardsError {
  constructor(action: string, alias: string, allowed: readonly string[]) {
    super(
      'ACTION_NOT_ALLOWED',
      `the alias ${alias} of the registry allows ${allowed.join(', ')}, not ${action}; invoke the function itself`,
    );
  }
}

/**
 * Checks that the invoked alias allows the action. IAM policies cannot restrict the payload. So a policy allows an
 * alias of the function, and this function rejects the actions that the alias does not allow. The caller cannot forge
 * `invokedFunctionArn`, because Lambda sets it.
 */
export function checkAllowed(action: string, invokedFunctionArn: string): void {
  const alias = invokedFunctionArn.split(':')[7] ?? '';
  const allowed = Object.hasOwn(ACTIONS_BY_ALIAS, alias) ? ACTIONS_BY_ALIAS[alias]! : undefined;
  if (allowed?.includes(action) === false) throw new ActionNotAllowedError(action, alias, allowed);
}
