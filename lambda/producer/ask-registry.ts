import { Lambda } from '@aws-sdk/client-lambda';
import { EvenShardsError } from '../../lib/core/foundation/errors';
import type { AskRegistry } from './hash-key-owners';

/** The registry's function failed, cannot be invoked, or takes too long. Nothing of the event was written. */
class RegistryFailedError extends EvenShardsError {
  constructor(message: string) {
    super('REGISTRY_FAILED', `the registry did not return hash keys: ${message}`);
  }
}

/** Asks the function of a registry, which allocates a key to an owner it does not know if it is to. */
export function askRegistry(functionName: string, action: 'allocate' | 'get'): AskRegistry {
  const lambda = new Lambda({});
  return async (owners, abortSignal) => {
    const request = { FunctionName: functionName, Payload: JSON.stringify({ action, owners }) };
    const { Payload, FunctionError } = await lambda.invoke(request, { abortSignal }).catch((error: Error) => {
      throw new RegistryFailedError(error.message);
    });
    const answer = JSON.parse(Buffer.from(Payload ?? []).toString());
    if (FunctionError !== undefined) throw new RegistryFailedError(answer.errorMessage);
    return answer.owners;
  };
}
