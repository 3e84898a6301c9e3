import {
  HashKeyLedger,
  type HashKeyOwner,
  PartialRebalanceError,
  type RegistryEntry,
  type RegistryHead,
  type RegistryStore,
  uniformRanges,
} from '../../../../lib/core';
import type { RegistryState } from '../../../../lib/core/registry/registry-state';
import { HASH_KEY_SPACE } from '../../../../lib/core/stream-format/hash-key-space';
import type { Scenario } from '../explore';
import { Faults } from '../faults';
import { Heard, stateText } from '../heard';
import type { Footprint, World } from '../world';

/** What a process does with its ledger, once. */
type LedgerWork =
  | { allocate: readonly string[] }
  | { release: readonly string[] }
  | { rebalance: number }
  | { move: string };

export interface LedgerBounds {
  /** The owners that have a key at the beginning. */
  owners: readonly string[];
  /** Whether these owners are all on one of the two shards, so that a rebalance has something to do. */
  skewed?: boolean;
  /** What each process does, side by side. */
  work: readonly LedgerWork[];
  /**
   * How many things go wrong in a run: a request that fails before it is applied, the end of a process, or a write of the head whose
   * answer is lost, or which the SDK sends again. Where a failure ends the work of a process anyway, no end is played.
   */
  faults: number;
}

const RANGES = uniformRanges(2);

/** Processes, each with a ledger of its own, on one table. */
export function ledgerScenario(name: string, bounds: LedgerBounds): Scenario {
  return { name, play: (world) => play(world, bounds) };
}

async function play(world: World, { owners, skewed = false, work, faults }: LedgerBounds): Promise<void> {
  const fillers = skewed ? owners.map((owner) => `filler ${owner}`) : [];
  const newcomers = work.flatMap((what) => ('allocate' in what ? what.allocate : []));
  const table = new Table([...owners, ...fillers, ...newcomers]);
  const first = new HashKeyLedger(table.store());
  const before = await first.allocate(
    [...owners, ...fillers].map((owner) => ({ owner })),
    RANGES,
  );
  if (skewed)
    await first.release(before.flatMap(({ owner, hashKey }) => (hashKey < RANGES[1]!.startingHashKey ? owner : [])));
  const some = new Faults(world, faults);
  const heard = new Heard((part) => table.text(part));
  const processes = work.map((_, index) => new Process(world, some, heard, `process ${index + 1}`, table));
  world.says(() => {
    const reports = processes.map(({ isThere, changed, isInDoubt }) => isThere && [changed, isInDoubt]);
    return table.text([heard.all(), reports, some.rest, table.state]);
  });
  await world.until(
    Promise.all(
      processes.map((process, index) => {
        const done = run(work[index]!, process, before).then(() => process.leave());
        return Promise.race([done, process.end]);
      }),
    ),
  );
  await world.untilNothingIsLeft();
  check(await new HashKeyLedger(table.store()).list(), table);
}

/** Does one thing. What the ledger reports is what its own commits have changed. */
async function run(what: LedgerWork, process: Process, before: readonly HashKeyOwner[]): Promise<void> {
  // The head has room for one entry, so that entries matter.
  const ledger = new HashKeyLedger(process.store, { clock: process.clock, random: () => 0, maxEntries: 1 });
  const hasOneCommit = !('allocate' in what && what.allocate.length > 1) && !('rebalance' in what);
  process.remembers = () => {
    const { commits } = ledger as unknown as { commits: { state?: RegistryState; settledVersion: number } };
    const { state, settledVersion } = commits;
    const known = state && [state.version, [...state.owners.values()].sort(byOwner)];
    return [known, settledVersion, hasOneCommit || [...process.asked]];
  };
  // Whoever is in doubt does not report its last commit.
  const sameOwners = (reported: readonly string[]): boolean =>
    [process.changed, process.isInDoubt ? process.changed.slice(0, -1) : process.changed].some(
      (changed) => JSON.stringify(reported) === JSON.stringify(changed.map(({ owner }) => owner)),
    );
  try {
    if ('allocate' in what) {
      const answer = await ledger.allocate(
        what.allocate.map((owner) => ({ owner })),
        RANGES,
      );
      const keys = new Map(answer.map(({ owner, hashKey }) => [owner, hashKey]));
      promise(
        process.changed.every(({ owner, hashKey }) => keys.get(owner) === hashKey),
        'allocate answers what it committed',
      );
    } else if ('release' in what) {
      const released = await ledger.release(what.release);
      promise(sameOwners(released.flatMap((owner) => owner?.owner ?? [])), 'release reports what it committed');
    } else if ('rebalance' in what) {
      const moves = await ledger.rebalance(RANGES, what.rebalance).catch((error) => {
        if (error instanceof PartialRebalanceError) return error.moves;
        throw error;
      });
      promise(moves.length <= what.rebalance, 'a rebalance makes no more moves than it was asked for');
      promise(sameOwners(moves.map(({ owner }) => owner)), 'a rebalance reports what it committed');
    } else {
      const { owner, hashKey } = before.find((each) => each.owner === what.move)!;
      await ledger.move({ owner, fromHashKey: hashKey, toHashKey: HASH_KEY_SPACE - 1n });
    }
  } catch (error) {
    const isExpected = (error as Error).message === 'scripted' || (error as Error).name === 'StaleMoveError';
    if (!isExpected) throw error;
  }
}

/** The items of the registry. */
class Table {
  /** Where entries can be. */
  readonly places: readonly string[];
  head?: RegistryHead;
  readonly entries = new Map<string, RegistryEntry>();
  /** The last change of each owner that was committed. */
  readonly committed = new Map<string, RegistryEntry>();
  /** The ids that ledgers drew for their commits, and the number of each commit. */
  private readonly ids = new Map<string, string>();
  /** Writes of entries that would change something. */
  private readonly pending = new Map<() => void, RegistryEntry>();

  constructor(everyone: readonly string[]) {
    this.places = everyone.map((owner) => placeOf({ owner }));
  }

  /** All that a ledger can read, and all that it should. */
  get state(): unknown {
    return [this.head, this.everyEntry(), [...this.committed.values()].sort(byOwner)];
  }

  /** A part of a state as text, with numbers in place of drawn ids. */
  text(part: unknown): string {
    let text = stateText(part);
    for (const [id, commit] of this.ids) text = text.replaceAll(id, commit);
    return text;
  }

  /** A way to the table without steps. */
  store(): RegistryStore {
    return {
      readHead: async () => this.head,
      writeHead: async (head, expected) => this.writeHead(head, expected),
      readEntry: async (owner) => this.entries.get(owner),
      readEntries: async () => this.everyEntry(),
      writeEntry: async (entry) => this.writeEntry(entry),
    };
  }

  /** In an order that does not depend on that of the writes. */
  everyEntry(): RegistryEntry[] {
    return [...this.entries.values()].sort(byOwner);
  }

  writeHead(head: RegistryHead, expected: number): boolean {
    if ((this.head?.version ?? 0) !== expected) return false;
    promise(head.version === expected + 1, 'each commit follows the one before');
    this.head = head;
    this.ids.set(head.commits!.at(-1)!, `commit ${head.version}`);
    for (const entry of changesOf(head)) this.committed.set(entry.owner, entry);
    return true;
  }

  writeEntry(entry: RegistryEntry): void {
    if (this.has(entry)) return;
    this.entries.set(entry.owner, entry);
    for (const [isThere, other] of this.pending) if (this.has(other)) isThere();
  }

  /** Resolves when this entry or a later one of its owner is there: to write it then changes nothing. */
  isThere(entry: RegistryEntry): Promise<void> {
    return new Promise((resolve) => {
      if (this.has(entry)) resolve();
      else this.pending.set(resolve, entry);
    });
  }

  private has({ owner, version }: RegistryEntry): boolean {
    return (this.entries.get(owner)?.version ?? 0) >= version;
  }
}

/** A process whose requests to the table are steps. */
class Process {
  /** What its commits have changed. */
  readonly changed: RegistryEntry[] = [];
  isThere = true;
  /** What its ledger keeps. */
  remembers!: () => unknown;
  /** What it has asked for, in order. It says how many commits have begun. */
  readonly asked: string[] = [];
  /** Resolves when the process is gone. */
  readonly end: Promise<void>;
  /** Whether it has not heard that its last write of the head was taken, and has not seen since what became of it. */
  isInDoubt = false;
  private stop!: () => void;
  private hasRead = false;

  constructor(
    private readonly world: World,
    private readonly faults: Faults,
    private readonly heard: Heard,
    private readonly name: string,
    private readonly table: Table,
  ) {
    this.end = new Promise((resolve) => {
      this.stop = resolve;
    });
  }

  /** Its work has ended, or itself. What it has heard does not matter any more. */
  leave(): void {
    this.isThere = false;
    this.heard.forget(this.name);
    this.stop();
  }

  /** What it has heard since it began to look at the table does not matter any more, but for what its ledger has kept. */
  private decide(): void {
    this.hasRead = false;
    this.heard.forget(this.name);
    this.hear(this.remembers());
  }

  private hear(what: unknown): void {
    if (this.isThere) this.heard.hear(this.name, what);
  }

  /**
   * The waits between attempts at a commit are over at once: whoever wakes asks for the head, which can take any time. Who
   * has waited begins anew, with what its ledger has kept.
   */
  get clock() {
    return { now: () => 0, schedule: () => () => {}, sleep: async (): Promise<void> => this.decide() };
  }

  get store(): RegistryStore {
    const { table } = this;
    return {
      readHead: () =>
        this.request('reads the head', { reads: ['head'] }, () => {
          this.isInDoubt = false;
          return table.head;
        }),
      readEntries: () => this.request('reads the entries', { reads: table.places }, () => table.everyEntry()),
      readEntry: (owner) => this.request('reads an entry', { reads: table.places }, () => table.entries.get(owner)),
      writeEntry: (entry) => this.writeEntry(entry),
      writeHead: (head, expected) =>
        this.request('writes the head', { writes: ['head'] }, () => {
          const isWritten = table.writeHead(head, expected);
          if (isWritten) this.changed.push(...changesOf(head));
          this.isInDoubt = !isWritten;
          return isWritten;
        }),
    };
  }

  /** A request is applied at some moment, or fails before that. A write may fail behind it, or be applied twice by the SDK. */
  private request<T>(what: string, { reads = [], writes = [] }: Partial<Footprint>, apply: () => T): Promise<T> {
    const isWrite = writes.length > 0;
    this.asks(what, isWrite);
    const name = `${this.name} ${what}`;
    const footprint = { reads, writes: [...writes, this.name] };
    return new Promise((resolve, reject) => {
      const fail = (): void => {
        this.hear('failed');
        reject(new Error('scripted'));
      };
      const answer = (): void => {
        const said = apply();
        this.hear(said);
        resolve(said);
      };
      const lose = (): void => {
        apply();
        this.isInDoubt = true;
        fail();
      };
      // The SDK sends the request again, at once or after others have written.
      const retry = (): void => {
        apply();
        this.world.offer(`${name}, again`, footprint, answer);
      };
      this.oneOf(footprint, [
        [this.world, name, answer],
        [this.faults, `${name}, and fails`, fail],
        ...(isWrite
          ? ([
              [this.faults, `${name}, and its answer is lost`, lose],
              [this.faults, `${name}, and its answer is lost to the SDK`, retry],
            ] as const)
          : []),
      ]);
    });
  }

  /** It ends when the entry is there, whoever has written it. Whether the answer of a write of an entry comes decides nothing. */
  private writeEntry(entry: RegistryEntry): Promise<void> {
    const what = `writes the entry of ${entry.owner}`;
    this.asks(what, true);
    const name = `${this.name} ${what}`;
    return new Promise((resolve, reject) => {
      const takeBack = this.oneOf({ writes: [placeOf(entry), this.name] }, [
        [this.world, name, () => this.table.writeEntry(entry)],
        [this.faults, `${name}, and fails`, () => reject(new Error('scripted'))],
        [this.faults, `${name}, and ends`, () => this.leave()],
      ]);
      void this.table.isThere(entry).then(() => {
        takeBack();
        resolve();
      });
    });
  }

  /** Whoever begins to write has decided by what its ledger keeps. */
  private asks(what: string, isWrite: boolean): void {
    if (isWrite && this.hasRead) this.decide();
    this.hasRead ||= !isWrite;
    this.asked.push(what);
  }

  /** One of these can happen. */
  private oneOf(
    footprint: Footprint,
    fates: readonly (readonly [of: World | Faults, name: string, happen: () => void])[],
  ): () => void {
    const offers = fates.map(([of, name, happen]) =>
      of.offer(name, footprint, () => {
        takeBack();
        happen();
      }),
    );
    const takeBack = (): void => {
      for (const each of offers.splice(0)) each();
    };
    return takeBack;
  }
}

/** What holds of the table in the end. */
function check(owners: readonly HashKeyOwner[], { committed }: Table): void {
  const keys = new Set(owners.map(({ hashKey }) => hashKey));
  promise(keys.size === owners.length, 'no two owners have one key');
  const listed = new Map(owners.map(({ owner, hashKey }) => [owner, hashKey]));
  const isListed = [...committed.values()].every(({ owner, hashKey }) => listed.get(owner) === hashKey);
  promise(isListed, 'a ledger that begins anew finds every commit');
}

/** The entries of the last commit. */
function changesOf({ version, recent }: RegistryHead): RegistryEntry[] {
  return recent.filter((entry) => entry.version === version);
}

function placeOf({ owner }: { owner: string }): string {
  return `the entry of ${owner}`;
}

function byOwner(a: { owner: string }, b: { owner: string }): number {
  return a.owner < b.owner ? -1 : 1;
}

function promise(isKept: boolean, words: string): void {
  if (!isKept) throw new Error(words);
}
