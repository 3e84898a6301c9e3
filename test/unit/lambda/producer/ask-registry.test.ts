import type { Lambda } from '@aws-sdk/client-lambda';
import { askRegistry } from '../../../../lambda/producer/ask-registry';
import { OwnerKeyError } from '../../../../lambda/producer/owner-key-error';

/** What the producer makes of an answer of the registry's function for the owners a and b: keys, or codes and whether to try again. */
async function keysFor(answer: () => object): Promise<unknown[]> {
  const lambda = { invoke: async () => answer() } as unknown as Lambda;
  const keys = await askRegistry(lambda, 'registry', 'allocate')(['a', 'b'], new AbortController().signal);
  return keys.map((key) => (key instanceof OwnerKeyError ? [key.code, key.isRetryable] : key));
}

const payload = (answer: unknown): { Payload: Uint8Array } => ({ Payload: Buffer.from(JSON.stringify(answer)) });
const failing = (errorMessage: string) => () => ({ FunctionError: 'Unhandled', ...payload({ errorMessage }) });
const A = { owner: 'a', hashKey: '7' };

describe('the registry answers', () => {
  test('with a key for each owner, or null', async () => {
    expect(await keysFor(() => payload({ owners: [A, null] }))).toEqual([7n, null]);
  });

  test('owner by owner if only some got a key', async () => {
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
  ])('with an error, by its own name: %s', async (message, code, isRetryable) => {
    expect(await keysFor(failing(message))).toEqual([
      [code, isRetryable],
      [code, isRetryable],
    ]);
  });

  test.each<[string, boolean]>([
    ['TooManyRequestsException', true],
    ['TimeoutError', true],
    ['AccessDeniedException', false],
  ])('with nothing if it cannot be invoked: %s', async (name, isRetryable) => {
    const denied = (): never => {
      throw Object.assign(new Error('words of the service'), { name });
    };
    expect(await keysFor(denied)).toEqual(Array(2).fill(['REGISTRY_FAILED', isRetryable]));
  });

  test.each([
    ['no owners', {}],
    ['too few owners', { owners: [A] }],
    ['another owner', { owners: [A, A] }],
    ['no hash key', { owners: [A, { owner: 'b' }] }],
    ['a hash key that is none', { owners: [A, { owner: 'b', hashKey: 'x' }] }],
  ])('and an answer with %s is none for any of them', async (_, answer) => {
    expect(await keysFor(() => payload(answer))).toEqual(Array(2).fill(['REGISTRY_FAILED', false]));
  });
});
