import { backoffMs } from '../foundation/backoff';
import { type Clock, systemClock } from '../foundation/clock';
import { InvalidArgumentError } from '../foundation/errors';
import { coveringRanges, type HashKeyRange } from '../foundation/hash-key-ranges';
import { checkHashKey, HASH_KEY_SPACE } from '../foundation/hash-key-space';
import type { BalancedKeyAllocator } from './balanced-key-allocator';
import { checkOwner, type HashKeyOwner } from './hash-key-owner';
import { type RebalanceMove, type RebalancePlan, rebalancePlan } from './rebalance-plan';
import { RegistryBusyError, StaleMoveError } from './registry-errors';
import { RegistryState } from './registry-state';
import type { RegistryEntry, RegistryHead, RegistryStore } from './registry-store';
import { checkWeight } from './weight';

/** An owner who asks for a key. */
export interface OwnerRequest {
  owner: string;
  /**
   * The owner's traffic, relative to the others'.
   * @default what the registry has for the owner, 1 for a new one
   */
  weight?: number;
}

/** A change of an owner's key, as a plan has it. */
export type HashKeyMove = Pick<RebalanceMove, 'owner' | 'fromHashKey' | 'toHashKey'>;

export interface HashKeyLedgerOptions {
  /**
   * How many owners one commit changes, and the head holds entries of, at most.
   * @default 100, which even with the longest names are far from the 400 KB that a DynamoDB item can have
   */
  mostEntries?: number;
  /** Waits between attempts at a commit. @default the system's clock */
  clock?: Clock;
  /** A source of numbers in [0, 1). @default Math.random */
  random?(): number;
}

const DEFAULT_MOST_ENTRIES = 100;

/** Attempts at one commit. Each fails only because another commit succeeded. */
const MOST_ATTEMPTS = 100;
const BACKOFF_BASE_MS = 10;
/** Long enough for the others to get through, even if a slow store makes each attempt take a second. */
const BACKOFF_CAP_MS = 5_000;

/**
 * Hands out hash keys durably: the same owner always gets the same key, no two owners get one, and every allocation is on
 * the shard that is the lightest by then, however many ledgers work on one store and wherever they crash.
 *
 * Every change is a commit, and commits are in one order: each is computed from all that came before, and written by
 * replacing the head of the version before. That write is the only one that decides. The entries of owners are written
 * after it, and before the next commit, by whoever comes first: until then the head itself has them.
 * Source: docs/decisions, "One write decides".
 *
 * A ledger keeps the state it has seen, and reads only what was committed since. Calls of one ledger take turns.
 */
export class HashKeyLedger {
  private state: RegistryState | undefined;
  private settledVersion = 0;
  private readonly mostEntries: number;
  private turn: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly store: RegistryStore,
    private readonly options: HashKeyLedgerOptions = {},
  ) {
    this.mostEntries = options.mostEntries ?? DEFAULT_MOST_ENTRIES;
  }

  /**
   * The keys of owners, index for index, each allocated now unless the owner has one. New owners are placed heaviest
   * first. A weight other than the recorded one is recorded, and the key stays.
   *
   * @param ranges the ranges of the stream's open shards
   */
  async allocate(requests: readonly OwnerRequest[], ranges: readonly HashKeyRange[]): Promise<HashKeyOwner[]> {
    checkNames(requests.map(({ owner }) => owner));
    requests.forEach(({ weight }, index) => {
      if (weight !== undefined) checkWeight(`owners[${index}].weight`, weight);
    });
    const heaviestFirst = requests.toSorted((a, b) => (b.weight ?? 1) - (a.weight ?? 1));
    const owners = new Map<string, HashKeyOwner>();
    for (const some of chunks(heaviestFirst, this.mostEntries)) {
      await this.commit((state) => {
        const decided = decidedOwners(state, some, ranges);
        for (const owner of decided) owners.set(owner.owner, owner);
        return decided.filter((owner) => state.owners.get(owner.owner)?.weight !== owner.weight);
      });
    }
    return requests.map(({ owner }) => owners.get(owner)!);
  }

  /** Frees the keys of owners. Index for index what they had, undefined for one who has none. */
  async release(names: readonly string[]): Promise<(HashKeyOwner | undefined)[]> {
    checkNames(names);
    const released = new Map<string, HashKeyOwner>();
    for (const some of chunks(names, this.mostEntries)) {
      await this.commit((state) => {
        const owners = some.flatMap((name) => state.owners.get(name) ?? []);
        for (const owner of owners) released.set(owner.owner, owner);
        return owners.map(({ owner, weight }) => ({ owner, weight }));
      });
    }
    return names.map((name) => released.get(name));
  }

  /** All owners, in the order of their names. */
  async list(): Promise<HashKeyOwner[]> {
    const { owners } = await this.caughtUp();
    return [...owners.values()].sort((a, b) => (a.owner < b.owner ? -1 : 1));
  }

  /** What `rebalance` would do. */
  async plan(ranges: readonly HashKeyRange[]): Promise<RebalancePlan> {
    const whole = coveringRanges('ranges', ranges, HASH_KEY_SPACE);
    const { owners } = await this.caughtUp();
    return rebalancePlan(owners.values(), whole);
  }

  /** Makes the moves of a plan, those with the most gain first, and at most so many. Returns what was moved. */
  async rebalance(ranges: readonly HashKeyRange[], mostMoves: number): Promise<RebalanceMove[]> {
    const whole = coveringRanges('ranges', ranges, HASH_KEY_SPACE);
    if (!Number.isInteger(mostMoves) || mostMoves < 0) {
      throw new InvalidArgumentError('mostMoves', mostMoves, 'a whole number, at least 0');
    }
    const made: RebalanceMove[] = [];
    for (;;) {
      let moves: RebalanceMove[] = [];
      await this.commit((state) => {
        const room = Math.min(this.mostEntries, mostMoves - made.length);
        moves = rebalancePlan(state.owners.values(), whole).moves.slice(0, room);
        return moves.map(({ owner, weight, toHashKey }) => ({ owner, weight, hashKey: toHashKey }));
      });
      if (moves.length === 0) return made;
      made.push(...moves);
    }
  }

  /**
   * Gives an owner another key, unless something has come between since it was planned. A move that is made already is
   * made.
   *
   * @throws InvalidHashKeyError if the new key is none that a stream has
   * @throws StaleMoveError if the owner has neither of the two keys, or another has the new one
   */
  async move({ owner: name, fromHashKey, toHashKey }: HashKeyMove): Promise<void> {
    checkNames([name]);
    checkHashKey('toHashKey', toHashKey);
    await this.commit((state) => {
      const owner = state.owners.get(name);
      if (owner?.hashKey === toHashKey) return [];
      if (owner?.hashKey !== fromHashKey) throw new StaleMoveError(name, 'its key has changed');
      for (const other of state.owners.values()) {
        if (other.hashKey === toHashKey) throw new StaleMoveError(name, 'its new key has an owner');
      }
      return [{ ...owner, hashKey: toHashKey }];
    });
  }

  /** Writes the changes that follow from the state, or none if none follow. */
  private async commit(decide: (state: RegistryState) => Omit<RegistryEntry, 'version'>[]): Promise<void> {
    await this.inTurn(async () => {
      for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt++) {
        const head = await this.catchUp();
        const version = head.version + 1;
        const commit = decide(this.state!).map((change) => ({ ...change, version }));
        if (commit.length === 0) return;
        await this.settle(head);
        if (
          await this.store.writeHead({ version, recent: recentAfter(head, commit, this.mostEntries) }, head.version)
        ) {
          this.state!.apply(version, commit);
          await this.settle({ version, recent: commit });
          return;
        }
        await this.backOff(attempt);
      }
      throw new RegistryBusyError(MOST_ATTEMPTS);
    });
  }

  /** Writes the entries of the head's own commit, in case whoever committed it has not. */
  private async settle({ version, recent }: RegistryHead): Promise<void> {
    if (this.settledVersion === version) return;
    const own = recent.filter((entry) => entry.version === version);
    await Promise.all(own.map((entry) => this.store.writeEntry(entry)));
    this.settledVersion = version;
  }

  private caughtUp(): Promise<RegistryState> {
    return this.inTurn(async () => {
      await this.catchUp();
      return this.state!;
    });
  }

  /** Brings the state to the head: by what was committed since, or if the head no longer has all of it, anew. */
  private async catchUp(): Promise<RegistryHead> {
    const head = await readHead(this.store);
    if (this.state !== undefined && hasAllSince(head, this.state.version)) {
      applyRecent(this.state, head);
      return head;
    }
    for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt++) {
      const before = await readHead(this.store);
      const entries = await this.store.readEntries();
      const after = await readHead(this.store);
      const sure = Math.max(0, before.version - 1);
      if (hasAllSince(after, sure)) {
        this.state = new RegistryState(after.version, latest([...entries, ...after.recent]));
        return after;
      }
    }
    throw new RegistryBusyError(MOST_ATTEMPTS);
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
 * The owners with these names, index for index, undefined for one who has no key. It reads two items where a ledger reads
 * all, and needs no more than permission to read.
 */
export async function readOwners(
  store: RegistryStore,
  names: readonly string[],
): Promise<(HashKeyOwner | undefined)[]> {
  checkNames(names);
  // The head first: what it no longer has was in the entries before.
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
  return (await store.readHead()) ?? { version: 0, recent: [] };
}

/** The owners as they are after their allocation, which the state's allocator computes and then forgets. */
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
    // First what the owners that are there already weigh from now on: it decides which shard is the lightest.
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

/** A head of before that version is of another table, one that was restored. */
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

/** The commit, and as many of the commits before as there is room for. */
function recentAfter({ recent }: RegistryHead, commit: readonly RegistryEntry[], most: number): RegistryEntry[] {
  const all = [...recent, ...commit];
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
