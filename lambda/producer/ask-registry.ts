import { Lambda } from '@aws-sdk/client-lambda';
import { EvenShardsError } from '../../lib/core/foundation/errors';
import { parseHashKey } from '../../lib/core/foundation/hash-key-space';
import { ALLOCATE_ALIAS, QUERY_ALIAS } from '../../lib/core/registry/registry-aliases';
import type { AskRegistry } from './hash-key-owners';

/** The registry's function failed, cannot be invoked, or takes too long. Nothing of the event was written. */
class RegistryFailedError extends EvenShardsError {
  /** @param detail the registry's own message, which may quote names of owners */
  constructor(reason: string, detail: string) {
    const summary = `the registry did not return hash keys: ${reason}`;
    super('REGISTRY_FAILED', `${summary}: ${detail}`, { summary });
  }
}

/** Asks the function of a registry, which allocates a key to an owner it does not know if it is to. */
export function askRegistry(functionName: string, action: 'allocate' | 'get'): AskRegistry {
  const lambda = new Lambda({});
  const alias = action === 'allocate' ? ALLOCATE_ALIAS : QUERY_ALIAS;
  return async (owners, abortSignal) => {
    const request = { FunctionName: functionName, Qualifier: alias, Payload: JSON.stringify({ action, owners }) };
    const { Payload, FunctionError } = await lambda.invoke(request, { abortSignal }).catch((error: Error) => {
      throw new RegistryFailedError(error.name, error.message);
    });
    const answer = jsonObject(Payload);
    if (FunctionError !== undefined) throw new RegistryFailedError(FunctionError, String(answer.errorMessage));
    return keysOf(answer.owners, owners);
  };
}

/** An empty object for bytes that are not JSON. */
function jsonObject(bytes: Uint8Array = new Uint8Array()): Record<string, unknown> {
  try {
    return Object(JSON.parse(Buffer.from(bytes).toString()));
  } catch {
    return {};
  }
}

/** The answer, if it has a key or null for each owner who was asked for. A wrong key would send records to a wrong shard. */
function keysOf(answer: unknown, owners: readonly string[]): ({ hashKey: string } | null)[] {
  const isAnswerFor = (key: unknown, owner: string): boolean => {
    const { owner: named, hashKey }: { owner?: unknown; hashKey?: unknown } = Object(key);
    return key === null || (named === owner && typeof hashKey === 'string' && parseHashKey(hashKey) !== undefined);
  };
  const isComplete =
    Array.isArray(answer) &&
    answer.length === owners.length &&
    owners.every((owner, index) => isAnswerFor(answer[index], owner));
  if (isComplete) return answer;
  throw new RegistryFailedError('IncompleteAnswer', `its answer must have a hash key or null for each owner`);
}
