import { InvokeCommand, type InvokeCommandInput, type InvokeCommandOutput, LambdaClient } from '@aws-sdk/client-lambda';
import { parsedJson } from '../../lib/core/kernel/parsed-json';
import { ALLOCATE_ALIAS, QUERY_ALIAS } from '../../lib/core/registry/registry-contract';
import { parseHashKey } from '../../lib/core/stream-format/hash-key-space';
import type { OwnerKey, RequestKeys } from './hash-key-owners';
import { OwnerKeyError } from './owner-key-error';

/** The part of the Lambda client that invokes a function. */
interface InvokeClient {
  invoke(input: InvokeCommandInput, options: { abortSignal: AbortSignal }): Promise<InvokeCommandOutput>;
}

/** A Lambda client with only the invoke command, because each bundled command makes a cold start longer. */
export function lambdaClient(): InvokeClient {
  const client = new LambdaClient({});
  return { invoke: (input, options) => client.send(new InvokeCommand(input), options) };
}

/**
 * Returns a function that requests keys from the function of a registry. With the action `allocate`, the registry
 * allocates keys for new owners.
 */
export function requestKeysFrom(lambda: InvokeClient, functionName: string, action: 'allocate' | 'get'): RequestKeys {
  const alias = action === 'allocate' ? ALLOCATE_ALIAS : QUERY_ALIAS;
  return async (owners, abortSignal) => {
    const request = { FunctionName: functionName, Qualifier: alias, Payload: JSON.stringify({ action, owners }) };
    const failed = (failure: OwnerKeyError): OwnerKey[] => owners.map(() => failure);
    try {
      const { Payload, FunctionError } = await lambda.invoke(request, { abortSignal });
      const answer = jsonObject(Payload);
      if (FunctionError !== undefined) return failed(functionFailure(FunctionError, String(answer.errorMessage)));
      return keysOf(answer.owners, owners) ?? failed(registryFailed('an incomplete response', false));
    } catch (error) {
      const { name, message } = error as Error;
      return failed(registryFailed(name, !LASTING_FAILURES.includes(name), message));
    }
  };
}

/** Errors of an invocation for which another attempt cannot succeed. */
const LASTING_FAILURES = ['AccessDeniedException', 'ResourceNotFoundException', 'InvalidParameterValueException'];

/**
 * The codes of the registry's errors, and whether another attempt may succeed. A repeated request to allocate or to
 * read does no harm.
 */
const REGISTRY_CODES: Readonly<Record<string, boolean>> = {
  REGISTRY_BUSY: true,
  UNCERTAIN_COMMIT: true,
  OUT_OF_TIME: true,
  KEY_SPACE_EXHAUSTED: false,
  CORRUPT_REGISTRY: false,
};

/** @param detail the message of a service or of the registry; this message may quote names of owners */
function registryFailed(reason: string, isRetryable: boolean, detail?: string): OwnerKeyError {
  const summary = `the registry did not return a hash key: ${reason}`;
  return new OwnerKeyError('REGISTRY_FAILED', detail ? `${summary}: ${detail}` : summary, { isRetryable, summary });
}

/** The error for a failure of the registry's function. It has the code of the failure, if there is one. */
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

/** Parses JSON. Returns an empty object if the bytes are not a JSON object. */
function jsonObject(bytes: Uint8Array = new Uint8Array()): Record<string, unknown> {
  return Object(parsedJson(Buffer.from(bytes).toString()));
}

/**
 * Returns the result of each requested owner: a key, an error, or null. Returns undefined if the response lacks the result of
 * an owner, so that no record goes to a wrong shard.
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
