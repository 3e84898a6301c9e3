import type { Lambda } from '@aws-sdk/client-lambda';
import { OwnerKeyError } from '../../../../lambda/producer/owner-key-error';
import { requestKeysFrom } from '../../../../lambda/producer/registry-keys';

/**
 * The hash keys of the owners a and b after this response of the registry function. For an owner with an error: the error
 * code and isRetryable.
 */
async function keysFor(respond: () => object): Promise<unknown[]> {
  const lambda = { invoke: async () => respond() } as unknown as Lambda;
  const keys = await requestKeysFrom(lambda, 'registry', 'allocate')(['a', 'b'], new AbortController().signal);
  return keys.map((key) => (key instanceof OwnerKeyError ? [key.code, key.isRetryable] : key));
}

const payload = (answer: unknown): { Payload: Uint8Array } => ({ Payload: Buffer.from(JSON.stringify(answer)) });
const failing = (errorMessage: string) => () => ({ FunctionError: 'Unhandled', ...payload({ errorMessage }) });
const A = { owner: 'a', hashKey: '7' };

describe('requestKeysFrom', () => {
  test('returns a hash key for each owner, or null for an owner without a hash key', async () => {
    expect(await keysFor(() => payload({ owners: [A, null] }))).toEqual([7n, null]);
  });

  test('returns an error for each owner that got no key', async () => {
    const b = { owner: 'b', errorCode: 'REGISTRY_BUSY', errorMessage: 'others were first', isRetryable: true };
    expect(await keysFor(() => payload({ owners: [A, b] }))).toEqual([7n, ['REGISTRY_BUSY', true]]);
  });

  test.each([
    ['[REGISTRY_BUSY] others were first', 'REGISTRY_BUSY', true],
    ['[UNCERTAIN_COMMIT] not known', 'UNCERTAIN_COMMIT', true],
    ['[OUT_OF_TIME] the time is up', 'OUT_OF_TIME', true],
    ['[CORRUPT_REGISTRY] damaged', 'CORRUPT_REGISTRY', false],
    ['[constructor] is no code', 'REGISTRY_FAILED', true],
    ['Task timed out after 30 seconds', 'REGISTRY_FAILED', true],
  ])('returns the same error code for all owners: %s', async (message, code, isRetryable) => {
    expect(await keysFor(failing(message))).toEqual([
      [code, isRetryable],
      [code, isRetryable],
    ]);
  });

  test.each<[string, boolean]>([
    ['TooManyRequestsException', true],
    ['TimeoutError', true],
    ['AccessDeniedException', false],
  ])('returns REGISTRY_FAILED if the function cannot be invoked: %s', async (name, isRetryable) => {
    const denied = (): never => {
      throw Object.assign(new Error('message of the service'), { name });
    };
    expect(await keysFor(denied)).toEqual(Array(2).fill(['REGISTRY_FAILED', isRetryable]));
  });

  test.each([
    ['no owners', {}],
    ['too few owners', { owners: [A] }],
    ['another owner', { owners: [A, A] }],
    ['no hash key', { owners: [A, { owner: 'b' }] }],
    ['a malformed hash key', { owners: [A, { owner: 'b', hashKey: 'x' }] }],
  ])('returns REGISTRY_FAILED for all owners if the response has %s', async (_, answer) => {
    expect(await keysFor(() => payload(answer))).toEqual(Array(2).fill(['REGISTRY_FAILED', false]));
  });
});
