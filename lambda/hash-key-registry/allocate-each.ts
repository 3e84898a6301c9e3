import { EvenShardsError } from '../../lib/core/kernel/errors';
import { type HashKeyLedger, type OwnerRequest, readOwners } from '../../lib/core/registry/hash-key-ledger';
import type { HashKeyOwner } from '../../lib/core/registry/hash-key-owner';
import type { RegistryStore } from '../../lib/core/registry/registry-store';
import type { HashKeyRange } from '../../lib/core/stream-format/hash-key-ranges';

/** Why an owner has no key yet. */
export interface OwnerFailure {
  owner: string;
  errorCode: string;
  errorMessage: string;
  /** Whether the same request may succeed if it is made again. */
  isRetryable: boolean;
}

/**
 * The errors that end the commits of a request, and whether another attempt may succeed. Earlier commits of the request may
 * have been made.
 */
const ENDS_COMMITS: Readonly<Record<string, boolean>> = {
  REGISTRY_BUSY: true,
  UNCERTAIN_COMMIT: true,
  KEY_SPACE_EXHAUSTED: false,
};

/** Each owner with its key, or why it has none yet, in the order of the requests. */
export async function allocateEach(
  ledger: Pick<HashKeyLedger, 'allocate'>,
  store: RegistryStore,
  requests: readonly OwnerRequest[],
  ranges: readonly HashKeyRange[],
): Promise<(HashKeyOwner | OwnerFailure)[]> {
  try {
    return await ledger.allocate(requests, ranges);
  } catch (error) {
    if (!(error instanceof EvenShardsError) || !Object.hasOwn(ENDS_COMMITS, error.code)) throw error;
    const { code: errorCode, message: errorMessage } = error;
    const names = requests.map(({ owner }) => owner);
    // The commits before the one that failed have given some owners their keys, and even the failed one may have been made.
    const known = await readOwners(store, names);
    return names.map(
      (owner, index) => known[index] ?? { owner, errorCode, errorMessage, isRetryable: ENDS_COMMITS[errorCode]! },
    );
  }
}
