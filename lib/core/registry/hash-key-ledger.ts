import { randomBytes } from 'node:crypto';
import { backoffMs } from '../foundation/backoff';
import { type Clock, systemClock } from '../foundation/clock';
import { InvalidArgumentError } from '../foundation/errors';
import { coveringRanges, type HashKeyRange } from '../foundation/hash-key-ranges';
import { checkHashKey, HASH_KEY_SPACE } from '../foundation/hash-key-space';
import type { BalancedKeyAllocator } from './balanced-key-allocator';
import { checkOwner, type HashKeyOwner } from './hash-key-owner';
import { PartialRebalanceError } from './partial-rebalance-error';
import { type RebalanceMove, type RebalancePlan, rebalancePlan } from './rebalance-plan';
import { CorruptRegistryError, RegistryBusyError, StaleMoveError, UncertainCommitError } from './registry-errors';
import { RegistryState } from './registry-state';
import type { RegistryEntry, RegistryHead, RegistryStore } from './registry-store';
import { checkWeight } from './weight';

/** An owner who needs a hash key. */
export interface OwnerRequest {
  /** The name of the owner, of 1 to 256 characters. */
  owner: string;
  /**
   * The owner's traffic in relation to that of the other owners, from 1e-9 to 2^53 - 1.
   * @default the weight that the registry has recorded for the owner, or 1 for a new owner
   */
  weight?: number;
}

/** One move of a plan: the owner, its hash key so far, and its new hash key. */
export type HashKeyMove = Pick<RebalanceMove, 'owner' | 'fromHashKey' | 'toHashKey'>;

/** Options of a `HashKeyLedger`. */
export interface HashKeyLedgerOptions {
  /**
   * The most owners that one commit changes, and the most entries that the head holds.
   * @default 100; even with the longest names, so many entries are far from the 400 KB limit of a DynamoDB item
   */
  maxEntries?: number;
  /**
   * The clock for the waits between attempts at a commit.
   * @default the clock of the system
   */
  clock?: Clock;
  /**
   * A source of numbers in [0, 1), for the jitter of those waits.
   * @default Math.random
   */
  random?(): number;
}

/** What follows from a state: the changes to commit, and what to answer once they are committed. */
interface Decision<T> {
  changes: Omit<RegistryEntry, 'version'>[];
  answer: T;
}

/** One attempt at a commit, and what to answer if its head was written. */
interface Attempt<T> {
  version: number;
  id: string;
  answer: T;
}

const DEFAULT_MAX_ENTRIES = 100;

/** The ids of commits that the head holds: many more than come between a lost answer and the next look at the head. */
const MAX_COMMIT_IDS = 64;

/** The most attempts at one commit. An attempt fails only because another commit has succeeded. */
const MAX_ATTEMPTS = 100;
const BACKOFF_BASE_MS = 10;
/** With waits of this length the other commits succeed, even if each attempt takes a second in a slow store. */
const BACKOFF_CAP_MS = 5_000;

/**
 * Hands out hash keys and stores them. The same owner always gets the same key, no two owners get the same key, and
 * every new key is on the shard that is the lightest at that moment. This holds for any number of ledgers on one store,
 * even if some of them crash at any point. The construct `HashKeyRegistry` runs a ledger in a Lambda function; use the
 * class itself to embed a registry in your own service.
 *
 * Every change is a commit, and all commits are in one order. A commit is computed from all commits before it, and it
 * replaces the head of the version before; only this one write decides. The entries of the owners are written after
 * that, by the first ledger that gets to it, and always before the next commit. Until then the head holds them.
 * Source: docs/decisions, "One write decides".
 *
 * A ledger keeps the state that it has read, and reads only later commits. Calls of one ledger run one after the other.
 * A call that must commit throws `RegistryBusyError` if 100 attempts fail because of other commits.
 */
export class HashKeyLedger {
  private state: RegistryState | undefined;
  private settledVersion = 0;
  private readonly maxEntries: number;
  private turn: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly store: RegistryStore,
    private readonly options: HashKeyLedgerOptions = {},
  ) {
    this.maxEntries = options.maxEntries ?? DEFAULT_MAX_ENTRIES;
  }

  /**
   * Returns the key of each owner, and allocates a key for an owner that has none. It places new owners heaviest first.
   * It records a changed weight of an owner that has a key; the key stays the same.
   *
   * @param requests the owners, each listed once
   * @param ranges the ranges of the stream's open shards, in any order
   * @returns the owners, in the order of the requests
   * @throws InvalidArgumentError or InvalidWeightError before anything is written, if a request is invalid
   * @throws KeySpaceExhaustedError if every key is allocated
   */
  async allocate(requests: readonly OwnerRequest[], ranges: readonly HashKeyRange[]): Promise<HashKeyOwner[]> {
    checkNames(requests.map(({ owner }) => owner));
    requests.forEach(({ weight }, index) => {
      if (weight !== undefined) checkWeight(`owners[${index}].weight`, weight);
    });
    const heaviestFirst = requests.toSorted((a, b) => (b.weight ?? 1) - (a.weight ?? 1));
    const owners = new Map<string, HashKeyOwner>();
    for (const some of chunks(heaviestFirst, this.maxEntries)) {
      const decided = await this.commit((state) => {
        const answer = decidedOwners(state, some, ranges);
        return { answer, changes: answer.filter(({ owner, weight }) => state.owners.get(owner)?.weight !== weight) };
      });
      for (const owner of decided) owners.set(owner.owner, owner);
    }
    return requests.map(({ owner }) => owners.get(owner)!);
  }

  /**
   * Frees the keys of owners.
   *
   * @returns what each owner had, in the order of the names; undefined for an owner without a key
   */
  async release(names: readonly string[]): Promise<(HashKeyOwner | undefined)[]> {
    checkNames(names);
    const released = new Map<string, HashKeyOwner>();
    for (const some of chunks(names, this.maxEntries)) {
      const owners = await this.commit((state) => {
        const answer = some.flatMap((name) => state.owners.get(name) ?? []);
        return { answer, changes: answer.map(({ owner, weight }) => ({ owner, weight })) };
      });
      for (const owner of owners) released.set(owner.owner, owner);
    }
    return names.map((name) => released.get(name));
  }

  /** All owners, in the order of their names. */
  async list(): Promise<HashKeyOwner[]> {
    const { owners } = await this.caughtUp();
    return [...owners.values()].sort((a, b) => (a.owner < b.owner ? -1 : 1));
  }

  /** The moves that `rebalance` would make. It changes nothing. */
  async plan(ranges: readonly HashKeyRange[]): Promise<RebalancePlan> {
    const whole = coveringRanges('ranges', ranges, HASH_KEY_SPACE);
    const { owners } = await this.caughtUp();
    return rebalancePlan(owners.values(), whole);
  }

  /**
   * Makes the moves of a plan, those that relieve the heaviest shard first, and at most `mostMoves` of them. It changes
   * only the registry: to keep the order of an owner's records, use `handOver` with `move` instead.
   *
   * @returns the moves that were made
   * @throws PartialRebalanceError with the moves that were made, if a commit after the first fails
   */
  async rebalance(ranges: readonly HashKeyRange[], mostMoves: number): Promise<RebalanceMove[]> {
    const whole = coveringRanges('ranges', ranges, HASH_KEY_SPACE);
    if (!Number.isInteger(mostMoves) || mostMoves < 0) {
      throw new InvalidArgumentError('mostMoves', mostMoves, 'a whole number of at least 0');
    }
    const made: RebalanceMove[] = [];
    try {
      for (;;) {
        const moves = await this.commit((state) => {
          const room = Math.min(this.maxEntries, mostMoves - made.length);
          const answer = rebalancePlan(state.owners.values(), whole).moves.slice(0, room);
          const changes = answer.map(({ owner, weight, toHashKey }) => ({ owner, weight, hashKey: toHashKey }));
          return { answer, changes };
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
   * Gives an owner another key, if the plan for this move is still valid. It does nothing if the owner already has the
   * new key, so a caller can repeat it.
   *
   * @throws InvalidHashKeyError if the new key is not an integer from 0 to 2^128 - 1
   * @throws StaleMoveError if the owner has neither of the two keys, or if another owner has the new key
   */
  async move({ owner: name, fromHashKey, toHashKey }: HashKeyMove): Promise<void> {
    checkNames([name]);
    checkHashKey('toHashKey', toHashKey);
    await this.commit((state) => {
      const owner = state.owners.get(name);
      if (owner?.hashKey === toHashKey) return { answer: undefined, changes: [] };
      if (owner?.hashKey !== fromHashKey) throw new StaleMoveError(name, 'its key has changed');
      for (const other of state.owners.values()) {
        if (other.hashKey === toHashKey) throw new StaleMoveError(name, 'its new key has an owner');
      }
      return { answer: undefined, changes: [{ ...owner, hashKey: toHashKey }] };
    });
  }

  /**
   * Commits the changes that `decide` derives from the latest state, or nothing if there are none. Returns the answer of
   * the attempt that was committed.
   *
   * The store may refuse a head that it has written: when the first answer is lost, the SDK sends the write again, and the
   * condition fails. So each attempt has an id, by which it is found among the commits before anything is decided anew.
   */
  private commit<T>(decide: (state: RegistryState) => Decision<T>): Promise<T> {
    return this.inTurn(async () => {
      const attempts: Attempt<T>[] = [];
      while (attempts.length < MAX_ATTEMPTS) {
        const seen = await readHead(this.store);
        const made = committedOf(attempts, seen);
        if (made !== undefined) {
          await this.settleIfPossible(seen);
          return made.answer;
        }
        const head = await this.catchUp(seen);
        const { changes, answer } = decide(this.state!);
        if (changes.length === 0) return answer;
        await this.settle(head);
        const attempt = { version: head.version + 1, id: randomBytes(8).toString('base64url'), answer };
        attempts.push(attempt);
        const next = headAfter(head, attempt, changes, this.maxEntries);
        if (await this.writeHead(next, attempt)) {
          applyRecent(this.state!, next);
          await this.settleIfPossible(next);
          return answer;
        }
        await this.backOff(attempts.length);
      }
      throw new RegistryBusyError(MAX_ATTEMPTS);
    });
  }

  /** Writes a head on top of the one before. An error counts only if the head was not written nevertheless. */
  private async writeHead(next: RegistryHead, attempt: Attempt<unknown>): Promise<boolean> {
    try {
      return await this.store.writeHead(next, next.version - 1);
    } catch (error) {
      const head = await readHead(this.store).catch(() => undefined);
      if (head !== undefined && idOfCommit(head, attempt.version) === attempt.id) return true;
      throw error;
    }
  }

  /** Writes the entries of the latest commit, in case its own ledger did not. */
  private async settle({ version, recent }: RegistryHead): Promise<void> {
    if (this.settledVersion === version) return;
    const own = recent.filter((entry) => entry.version === version);
    await Promise.all(own.map((entry) => this.store.writeEntry(entry)));
    this.settledVersion = version;
  }

  /** What is committed has no failure any more: if its entries are not written, the next commit writes them first. */
  private settleIfPossible(head: RegistryHead): Promise<void> {
    return this.settle(head).catch(() => {});
  }

  private caughtUp(): Promise<RegistryState> {
    return this.inTurn(async () => {
      await this.catchUp(await readHead(this.store));
      return this.state!;
    });
  }

  /**
   * Brings the state up to the head: by the commits since, or from all entries if the head no longer holds them all. Returns
   * the head of the state.
   */
  private async catchUp(head: RegistryHead): Promise<RegistryHead> {
    if (this.state !== undefined && hasAllSince(head, this.state.version)) {
      applyRecent(this.state, head);
      return head;
    }
    let before = head;
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const entries = await this.store.readEntries();
      const after = await readHead(this.store);
      const sure = Math.max(0, before.version - 1);
      if (hasAllSince(after, sure)) {
        this.state = new RegistryState(after.version, latest([...entries, ...after.recent]));
        return after;
      }
      before = after;
    }
    throw new RegistryBusyError(MAX_ATTEMPTS);
  }

  private backOff(attempt: number): Promise<void> {
    const { clock = systemClock, random = Math.random } = this.options;
    const bounds = { backoffBaseMs: BACKOFF_BASE_MS, backoffCapMs: BACKOFF_CAP_MS, random };
    return clock.sleep(backoffMs(attempt + 1, bounds));
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.turn.then(work);
    this.turn = result.catch(() => {});
    return result;
  }
}

/**
 * Reads the owners with these names. Use it in a producer that only looks keys up: it reads one item, and one more for
 * each name, where a ledger reads all items, and it needs only permission to read.
 *
 * @returns the owners, in the order of the names; undefined for an owner without a key
 */
export async function readOwners(
  store: RegistryStore,
  names: readonly string[],
): Promise<(HashKeyOwner | undefined)[]> {
  checkNames(names);
  // The head comes first: an entry that the head no longer holds is among the entries by now.
  const { recent } = await readHead(store);
  const entries = await Promise.all(names.map((name) => store.readEntry(name)));
  const found = new Map(
    latest([...entries.flatMap((entry) => entry ?? []), ...recent]).map((entry) => [entry.owner, entry]),
  );
  return names.map((name) => {
    const { hashKey, weight = 1 } = found.get(name) ?? {};
    return hashKey === undefined ? undefined : { owner: name, hashKey, weight };
  });
}

async function readHead(store: RegistryStore): Promise<RegistryHead> {
  const head = await store.readHead();
  if (head === undefined) return { version: 0, recent: [] };
  checkHead(head);
  return head;
}

/** Throws `CorruptRegistryError` unless the head is one that a ledger has written. */
function checkHead({ version, recent, commits }: RegistryHead): void {
  if (!Number.isSafeInteger(version) || version < 1) throw new CorruptRegistryError('the version of its head');
  const isAscending = recent.every((entry, index) => index === 0 || recent[index - 1]!.version <= entry.version);
  // A head without entries would stand for a commit that changed nothing.
  if (!isAscending || recent.at(-1)?.version !== version) throw new CorruptRegistryError('the history in its head');
  if (commits?.length === 0 || (commits?.length ?? 0) > version)
    throw new CorruptRegistryError('the commits in its head');
}

/** The id of the commit of a version; undefined if the head does not have it. */
function idOfCommit({ version, commits = [] }: RegistryHead, wanted: number): string | undefined {
  return commits[commits.length - 1 - (version - wanted)];
}

/**
 * The attempt that was committed, if one was.
 *
 * @throws UncertainCommitError if the head no longer says whose commit followed an attempt's state
 */
function committedOf<T>(attempts: readonly Attempt<T>[], head: RegistryHead): Attempt<T> | undefined {
  const made = attempts.find(({ version, id }) => idOfCommit(head, version) === id);
  const isUnknown = ({ version }: Attempt<T>) => version < head.version && idOfCommit(head, version) === undefined;
  if (made === undefined && attempts.some(isUnknown)) throw new UncertainCommitError();
  return made;
}

/** The head that commits an attempt: with its entries and its id, and as many of those before as there is room for. */
function headAfter(
  { recent, commits = [] }: RegistryHead,
  { version, id }: Attempt<unknown>,
  changes: readonly Omit<RegistryEntry, 'version'>[],
  mostEntries: number,
): RegistryHead {
  const own = changes.map((change) => ({ ...change, version }));
  return {
    version,
    recent: latestCommits([...recent, ...own], mostEntries),
    commits: [...commits, id].slice(-MAX_COMMIT_IDS),
  };
}

/** The owners after their allocation. It changes the state's allocator to compute them, and then undoes the changes. */
function decidedOwners(
  state: RegistryState,
  requests: readonly OwnerRequest[],
  ranges: readonly HashKeyRange[],
): HashKeyOwner[] {
  const allocator = state.allocatorFor(ranges);
  const known = requests.flatMap(({ owner }) => state.owners.get(owner) ?? []);
  const weights = new Map(requests.map(({ owner, weight }) => [owner, weight]));
  const allocated: bigint[] = [];
  try {
    // New weights of known owners come first, because they decide which shard is the lightest.
    for (const { owner, hashKey, weight } of known) reweigh(allocator, hashKey, weights.get(owner) ?? weight);
    return requests.map(({ owner, weight }) => {
      const before = state.owners.get(owner);
      if (before !== undefined) return { ...before, weight: weight ?? before.weight };
      const hashKey = allocator.allocate(weight);
      allocated.push(hashKey);
      return { owner, hashKey, weight: weight ?? 1 };
    });
  } finally {
    for (const hashKey of allocated) allocator.release(hashKey);
    for (const { hashKey, weight } of known) reweigh(allocator, hashKey, weight);
  }
}

function reweigh(allocator: BalancedKeyAllocator, hashKey: bigint, weight: number): void {
  allocator.release(hashKey);
  allocator.claim(hashKey, weight);
}

/** Whether the head holds all commits since a version. A head before that version belongs to a restored table. */
function hasAllSince(head: RegistryHead, version: number): boolean {
  if (head.version <= version) return head.version === version;
  return head.recent[0]!.version <= version + 1;
}

function applyRecent(state: RegistryState, { version, recent }: RegistryHead): void {
  for (let next = state.version + 1; next <= version; next++) {
    state.apply(
      next,
      recent.filter((entry) => entry.version === next),
    );
  }
}

/** The entries of the latest commits: whole commits, and as many as there is room for. */
function latestCommits(all: readonly RegistryEntry[], most: number): RegistryEntry[] {
  const cut = all[all.length - most - 1]?.version ?? 0;
  return all.filter(({ version }) => version > cut);
}

function latest(entries: readonly RegistryEntry[]): RegistryEntry[] {
  const byOwner = new Map<string, RegistryEntry>();
  for (const entry of entries) {
    if (entry.version >= (byOwner.get(entry.owner)?.version ?? 0)) byOwner.set(entry.owner, entry);
  }
  return [...byOwner.values()];
}

function checkNames(names: readonly string[]): void {
  const seen = new Set<string>();
  names.forEach((name, index) => {
    checkOwner(`owners[${index}]`, name);
    if (seen.has(name)) throw new InvalidArgumentError(`owners[${index}]`, name, 'listed once');
    seen.add(name);
  });
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, index) => items.slice(index * size, (index + 1) * size));
}
