import { checkWhole } from '../kernel/checks';
import { chunks } from '../kernel/chunks';
import { type Clock, systemClock } from '../kernel/clock';
import { EvenShardsError, InvalidArgumentError } from '../kernel/errors';
import { coveringRanges, type HashKeyRange } from '../stream-format/hash-key-ranges';
import { checkHashKey, HASH_KEY_SPACE } from '../stream-format/hash-key-space';
import type { BalancedKeyAllocator } from './balanced-key-allocator';
import { checkedStore } from './checked-store';
import { checkOwner, type HashKeyOwner } from './hash-key-owner';
import { type RebalanceMove, type RebalancePlan, rebalancePlan } from './rebalance-plan';
import { RegistryCommits } from './registry-commits';
import { StaleMoveError } from './registry-errors';
import { latest, readHead } from './registry-head';
import type { RegistryState } from './registry-state';
import type { RegistryStore } from './registry-store';
import { checkWeight } from './weight';

/** An owner that needs a hash key. */
export interface OwnerRequest {
  /** The name of the owner, of 1 to 256 characters. */
  owner: string;
  /**
   * The owner's traffic relative to other owners, from 1e-9 to 2^53 - 1.
   * @default the weight that the registry has recorded for the owner, or 1 for a new owner
   */
  weight?: number;
}

/** One move of a plan: the owner, its current hash key, and its new hash key. */
export type HashKeyMove = Pick<RebalanceMove, 'owner' | 'fromHashKey' | 'toHashKey'>;

/** Options of a `HashKeyLedger`. */
export interface HashKeyLedgerOptions {
  /**
   * The maximum number of owners that one commit changes, and the maximum number of entries in the head; at least 1.
   * @default 100, which keeps the head far below the 400 KB limit of a DynamoDB item, even with the longest names
   */
  maxEntries?: number;
  /**
   * The clock for the delays between attempts of a commit.
   * @default the system clock
   */
  clock?: Clock;
  /**
   * Returns a random number from 0 to below 1, for the jitter of the delays between attempts.
   * @default Math.random
   */
  random?(): number;
}

const DEFAULT_MAX_ENTRIES = 100;

/**
 * Allocates hash keys to owners, and stores them. The same owner always gets the same key, and no two owners get the same key. A
 * new key is on the shard that is the lightest at that moment. This is true for any number of ledgers on one store, even if
 * ledgers crash. The construct `HashKeyRegistry` runs a ledger in a Lambda function. Use this class for a registry in your own
 * service.
 *
 * Every change is a commit, and the commits of all ledgers form one sequence. A commit is one conditional write, which replaces
 * the head of the registry. The head contains the entries of the latest commits. After a commit, a ledger also writes the entry
 * of each changed owner, at the latest before the next commit. Until then, only the head contains these entries. Source:
 * docs/decisions, "One conditional write commits a change of the registry".
 *
 * A ledger caches the state, and then reads only later commits. Use one ledger for all callers in a process: calls that wait in
 * the same ledger share a commit. Ledgers in different processes compete for commits. A call throws `RegistryBusyError` if 100
 * attempts fail because of commits of other ledgers.
 */
export class HashKeyLedger {
  private readonly maxEntries: number;
  private readonly commits: RegistryCommits;

  /** @throws InvalidArgumentError if the store lacks a method, or `maxEntries` is out of bounds */
  constructor(store: RegistryStore, options: HashKeyLedgerOptions = {}) {
    const { maxEntries = DEFAULT_MAX_ENTRIES, clock = systemClock, random = Math.random } = options;
    checkWhole('maxEntries', maxEntries, 1);
    this.maxEntries = maxEntries;
    this.commits = new RegistryCommits(checkedStore(store), { maxEntries, clock, random });
  }

  /**
   * Returns the key of each owner, and allocates keys for new owners, heaviest first. An existing owner keeps its key, and a
   * changed weight is recorded.
   *
   * @param requests the owners, each listed once
   * @param ranges the ranges of the stream's open shards, in any order
   * @returns the owners, in the order of the requests
   * @throws InvalidArgumentError or InvalidWeightError if a request is invalid; nothing is written then
   * @throws KeySpaceExhaustedError if every key is allocated
   */
  async allocate(requests: readonly OwnerRequest[], ranges: readonly HashKeyRange[]): Promise<HashKeyOwner[]> {
    checkNames(requests.map(({ owner }) => owner));
    requests.forEach(({ weight }, index) => {
      if (weight !== undefined) checkWeight(`owners[${index}].weight`, weight);
    });
    const heaviestFirst = requests.toSorted((a, b) => expectedWeight(b) - expectedWeight(a));
    const owners = new Map<string, HashKeyOwner>();
    for (const chunk of chunks(heaviestFirst, this.maxEntries)) {
      const decided = await this.commits.commit((state) => {
        const result = decidedOwners(state, chunk, ranges);
        return { result, changes: result.filter(({ owner, weight }) => state.owners.get(owner)?.weight !== weight) };
      });
      for (const owner of decided) owners.set(owner.owner, owner);
    }
    return requests.map(({ owner }) => owners.get(owner)!);
  }

  /**
   * Frees the keys of owners.
   *
   * @returns each owner with its released key, in the order of the names; undefined for an owner without a key
   */
  async release(names: readonly string[]): Promise<(HashKeyOwner | undefined)[]> {
    checkNames(names);
    const released = new Map<string, HashKeyOwner>();
    for (const chunk of chunks(names, this.maxEntries)) {
      const owners = await this.commits.commit((state) => {
        const result = chunk.flatMap((name) => state.owners.get(name) ?? []);
        return { result, changes: result.map(({ owner, weight }) => ({ owner, weight })) };
      });
      for (const owner of owners) released.set(owner.owner, owner);
    }
    return names.map((name) => released.get(name));
  }

  /** All owners, in the order of their names. */
  async list(): Promise<HashKeyOwner[]> {
    const { owners } = await this.commits.latestState();
    return [...owners.values()].sort((a, b) => (a.owner < b.owner ? -1 : 1));
  }

  /** Returns the moves that `rebalance` would make, and changes nothing. */
  async plan(ranges: readonly HashKeyRange[]): Promise<RebalancePlan> {
    const whole = coveringRanges(ranges, HASH_KEY_SPACE);
    const { owners } = await this.commits.latestState();
    return rebalancePlan(owners.values(), whole);
  }

  /**
   * Computes a rebalance plan, and makes at most `mostMoves` of the moves in the plan, beginning with the heaviest shard. This
   * changes only the registry. To keep the order of an owner's records, use `handOver` with `move` instead.
   *
   * @returns the moves that were made
   * @throws PartialRebalanceError with the moves that were made, if a commit after the first fails
   */
  async rebalance(ranges: readonly HashKeyRange[], mostMoves: number): Promise<RebalanceMove[]> {
    const whole = coveringRanges(ranges, HASH_KEY_SPACE);
    checkWhole('mostMoves', mostMoves, 0);
    const made: RebalanceMove[] = [];
    try {
      for (;;) {
        const moves = await this.commits.commit((state) => {
          const room = Math.min(this.maxEntries, mostMoves - made.length);
          const result = rebalancePlan(state.owners.values(), whole).moves.slice(0, room);
          const changes = result.map(({ owner, weight, toHashKey }) => ({ owner, weight, hashKey: toHashKey }));
          return { result, changes };
        });
        if (moves.length === 0) return made;
        made.push(...moves);
      }
    } catch (error) {
      if (made.length === 0) throw error;
      throw new PartialRebalanceError(made, error as Error);
    }
  }

  /**
   * Gives an owner another key, if the plan for this move is still valid. If the owner already has the new key, the call does
   * nothing, so a caller can repeat the call.
   *
   * @throws InvalidHashKeyError if the new key is not an integer from 0 to 2^128 - 1
   * @throws StaleMoveError if the owner has neither of the two keys, or if another owner has the new key
   */
  async move({ owner: name, fromHashKey, toHashKey }: HashKeyMove): Promise<void> {
    checkNames([name]);
    checkHashKey('toHashKey', toHashKey);
    await this.commits.commit((state) => {
      const owner = state.owners.get(name);
      if (owner?.hashKey === toHashKey) return { result: undefined, changes: [] };
      if (owner?.hashKey !== fromHashKey) throw new StaleMoveError(name, 'its key has changed');
      for (const other of state.owners.values()) {
        if (other.hashKey === toHashKey) throw new StaleMoveError(name, 'its new key has an owner');
      }
      return { result: undefined, changes: [{ ...owner, hashKey: toHashKey }] };
    });
  }
}

/**
 * Reads the owners with these names. Use it in a producer that only looks up keys. The function reads one item, and one more item
 * for each name, whereas a ledger reads all items. It needs only read permissions.
 *
 * @returns the owners, in the order of the names; undefined for an owner without a key
 */
export async function readOwners(
  store: RegistryStore,
  names: readonly string[],
): Promise<(HashKeyOwner | undefined)[]> {
  checkNames(names);
  const checked = checkedStore(store);
  // Read the head first: if an entry has already left the head, the store has the separate entry of the owner.
  const { recent } = await readHead(checked);
  const entries = await Promise.all(names.map((name) => checked.readEntry(name)));
  const found = new Map(
    latest([...entries.flatMap((entry) => entry ?? []), ...recent]).map((entry) => [entry.owner, entry]),
  );
  return names.map((name) => {
    const entry = found.get(name);
    return entry?.hashKey === undefined ? undefined : { owner: name, hashKey: entry.hashKey, weight: entry.weight };
  });
}

/** The weight that the owner has if the owner is new. The recorded weight of an existing owner is not read yet. */
function expectedWeight({ weight = 1 }: OwnerRequest): number {
  return weight;
}

/**
 * The owners after their allocation. To compute the owners, the function changes the allocator of the state, and then undoes the
 * changes.
 */
function decidedOwners(
  state: RegistryState,
  requests: readonly OwnerRequest[],
  ranges: readonly HashKeyRange[],
): HashKeyOwner[] {
  const allocator = state.allocatorFor(ranges);
  const existing = requests.flatMap(({ owner }) => state.owners.get(owner) ?? []);
  const weights = new Map(requests.map(({ owner, weight }) => [owner, weight]));
  const allocated: bigint[] = [];
  try {
    // Sets the new weights of existing owners first, because they decide which shard is the lightest.
    for (const { owner, hashKey, weight } of existing) reweigh(allocator, hashKey, weights.get(owner) ?? weight);
    return requests.map(({ owner, weight }) => {
      const before = state.owners.get(owner);
      if (before !== undefined) return { ...before, weight: weight ?? before.weight };
      const hashKey = allocator.allocate(weight);
      allocated.push(hashKey);
      return { owner, hashKey, weight: weight ?? 1 };
    });
  } finally {
    for (const hashKey of allocated) allocator.release(hashKey);
    for (const { hashKey, weight } of existing) reweigh(allocator, hashKey, weight);
  }
}

function reweigh(allocator: BalancedKeyAllocator, hashKey: bigint, weight: number): void {
  allocator.release(hashKey);
  allocator.claim(hashKey, weight);
}

function checkNames(names: readonly string[]): void {
  const seen = new Set<string>();
  names.forEach((name, index) => {
    checkOwner(`owners[${index}]`, name);
    if (seen.has(name)) throw new InvalidArgumentError(`owners[${index}]`, name, 'listed once');
    seen.add(name);
  });
}

/**
 * A rebalance failed after its first commit. The moves of the earlier commits are made. If the response of the store was lost,
 * the moves of the failed commit may be made too. Make a new plan for the remaining moves.
 */
export class PartialRebalanceError extends EvenShardsError {
  // Private, because loggers write every enumerable property of an error, and moves contain owner names and hash keys.
  readonly #moves: readonly RebalanceMove[];

  constructor(moves: readonly RebalanceMove[], cause: Error) {
    const summary = `${moves.length} moves were made, and then a commit failed`;
    super('PARTIAL_REBALANCE', `${summary}: ${cause.message}`, { cause, summary: `${summary}: ${cause.name}` });
    this.#moves = moves;
  }

  /** The moves that were made. The `cause` is the error of the failed commit. */
  get moves(): readonly RebalanceMove[] {
    return this.#moves;
  }
}
