import { EvenShardsError } from '../../lib/core/kernel/errors';
import { type HashKeyLedger, type OwnerRequest, readOwners } from '../../lib/core/registry/hash-key-ledger';
import type { HashKeyOwner } from '../../lib/core/registry/hash-key-owner';
import type { RegistryStore } from '../../lib/core/registry/registry-store';
import type { HashKeyRange } from '../../lib/core/stream-format/hash-key-ranges';

/** The reason why the request did not allocate a key for an owner. */
export interface OwnerFailure {
  owner: string;
  errorCode: string;
  errorMessage: string;
  /** Whether another attempt of the same request may succeed. */
  isRetryable: boolean;
}

/** The errors that can occur after some commits of a request succeeded, and whether another attempt may succeed. */
const COMMIT_ERRORS: Readonly<Record<string, boolean>> = {
  REGISTRY_BUSY: true,
  UNCERTAIN_COMMIT: true,
  KEY_SPACE_EXHAUSTED: false,
};

/** Allocates keys. Returns each owner with its key or its failure, in the order of the requests. */
export async function allocateEach(
  ledger: Pick<HashKeyLedger, 'allocate'>,
  store: RegistryStore,
  requests: readonly OwnerRequest[],
  ranges: readonly HashKeyRange[],
): Promise<(HashKeyOwner | OwnerFailure)[]> {
  try {
    return await ledger.allocate(requests, ranges);
  } catch (error) {
    if (!(error instanceof EvenShardsError) || !Object.hasOwn(COMMIT_ERRORS, error.code)) throw error;
    const { code: errorCode, message: errorMessage } = error;
    const names = requests.map(({ owner }) => owner);
    // Earlier commits have allocated some keys, and even the failed commit may have succeeded. So read the owners
    // again.
    const known = await readOwners(store, names);
    return names.map(
      (owner, index) => known[index] ?? { owner, errorCode, errorMessage, isRetryable: COMMIT_ERRORS[errorCode]! },
    );
  }
}
