import { InvokeCommand, type InvokeCommandInput, type InvokeCommandOutput, LambdaClient } from '@aws-sdk/client-lambda';
import { ALLOCATE_ALIAS, QUERY_ALIAS } from '../../lib/core/registry/registry-contract';
import { parseHashKey } from '../../lib/core/stream-format/hash-key-space';
import type { AskRegistry, OwnerKey } from './hash-key-owners';
import { OwnerKeyError } from './owner-key-error';

/** What is asked of Lambda. */
interface InvokeClient {
  invoke(input: InvokeCommandInput, options: { abortSignal: AbortSignal }): Promise<InvokeCommandOutput>;
}

/** A client with this one command. */
export function lambdaClient(): InvokeClient {
  const client = new LambdaClient({});
  return { invoke: (input, options) => client.send(new InvokeCommand(input), options) };
}

/** Asks the function of a registry, which allocates a key to an owner it does not know if it is to. */
export function askRegistry(lambda: InvokeClient, functionName: string, action: 'allocate' | 'get'): AskRegistry {
  const alias = action === 'allocate' ? ALLOCATE_ALIAS : QUERY_ALIAS;
  return async (owners, abortSignal) => {
    const request = { FunctionName: functionName, Qualifier: alias, Payload: JSON.stringify({ action, owners }) };
    const failed = (failure: OwnerKeyError): OwnerKey[] => owners.map(() => failure);
    try {
      const { Payload, FunctionError } = await lambda.invoke(request, { abortSignal });
      const answer = jsonObject(Payload);
      if (FunctionError !== undefined) return failed(functionFailure(FunctionError, String(answer.errorMessage)));
      return keysOf(answer.owners, owners) ?? failed(registryFailed('an incomplete answer', false));
    } catch (error) {
      const { name, message } = error as Error;
      return failed(registryFailed(name, !LASTING_FAILURES.includes(name), message));
    }
  };
}

/** Failures of an invocation that another attempt does not change. */
const LASTING_FAILURES = ['AccessDeniedException', 'ResourceNotFoundException', 'InvalidParameterValueException'];

/** What the registry's own errors say of another attempt: to allocate and to read may be repeated. */
const REGISTRY_CODES: Readonly<Record<string, boolean>> = {
  REGISTRY_BUSY: true,
  UNCERTAIN_COMMIT: true,
  OUT_OF_TIME: true,
  KEY_SPACE_EXHAUSTED: false,
  CORRUPT_REGISTRY: false,
};

/** @param detail the words of a service or of the registry, which may quote names of owners */
function registryFailed(reason: string, isRetryable: boolean, detail?: string): OwnerKeyError {
  const summary = `the registry did not return a hash key: ${reason}`;
  return new OwnerKeyError('REGISTRY_FAILED', detail ? `${summary}: ${detail}` : summary, { isRetryable, summary });
}

/** An error of the registry's function, by its own code if it has one. */
function functionFailure(functionError: string, message: string): OwnerKeyError {
  const [, code = '', problem = ''] = /^\[([A-Z_]+)\] (.*)$/su.exec(message) ?? [];
  const isRetryable = Object.hasOwn(REGISTRY_CODES, code) ? REGISTRY_CODES[code] : undefined;
  if (isRetryable === undefined) return registryFailed(functionError, true, message);
  return ownerKeyError(code, problem, isRetryable);
}

function ownerKeyError(code: string, problem: string, isRetryable: boolean): OwnerKeyError {
  return new OwnerKeyError(code, `the registry did not return a hash key: ${problem}`, {
    isRetryable,
    summary: 'the registry did not return a hash key',
  });
}

/** An empty object for bytes that are not JSON. */
function jsonObject(bytes: Uint8Array = new Uint8Array()): Record<string, unknown> {
  try {
    return Object(JSON.parse(Buffer.from(bytes).toString()));
  } catch {
    return {};
  }
}

/**
 * The answer, if it has a key, an error or null for each owner who was asked for; undefined if not. A wrong key would send
 * records to a wrong shard.
 */
function keysOf(answers: unknown, owners: readonly string[]): OwnerKey[] | undefined {
  if (!Array.isArray(answers) || answers.length !== owners.length) return undefined;
  const keys = owners.map((owner, index) => keyOf(answers[index], owner));
  return keys.includes(undefined) ? undefined : (keys as OwnerKey[]);
}

function keyOf(answer: unknown, owner: string): OwnerKey | undefined {
  if (answer === null) return null;
  const { owner: named, hashKey, errorCode, errorMessage, isRetryable }: Record<string, unknown> = Object(answer);
  if (named !== owner) return undefined;
  if (typeof errorCode === 'string') return ownerKeyError(errorCode, String(errorMessage), isRetryable === true);
  return typeof hashKey === 'string' ? parseHashKey(hashKey) : undefined;
}
