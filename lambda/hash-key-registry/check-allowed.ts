import { EvenShardsError } from '../../lib/core/kernel/errors';
import { ACTIONS_BY_ALIAS } from '../../lib/core/registry/registry-contract';

/** The alias that the function was invoked by does not stand for the action. Nothing was read or written. */
class ActionNotAllowedError extends EvenShardsError {
  constructor(action: string, alias: string, allowed: readonly string[]) {
    super(
      'ACTION_NOT_ALLOWED',
      `the alias ${alias} of the registry is for ${allowed.join(', ')}, and not for ${action}; invoke the function itself`,
    );
  }
}

/**
 * Policies cannot look into a payload. So they name an alias, and this function refuses what the alias is not for. Lambda
 * itself says by which ARN it was invoked.
 */
export function checkAllowed(action: string, invokedFunctionArn: string): void {
  const alias = invokedFunctionArn.split(':')[7] ?? '';
  const allowed = Object.hasOwn(ACTIONS_BY_ALIAS, alias) ? ACTIONS_BY_ALIAS[alias]! : undefined;
  if (allowed?.includes(action) === false) throw new ActionNotAllowedError(action, alias, allowed);
}
