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
import { ProcessInputs, stateText } from '../process-inputs';
import { promise } from '../promise';
import type { Footprint, World } from '../world';

/** A single action of a process. */
type LedgerWork =
  | { allocate: readonly string[] }
  | { release: readonly string[] }
  | { rebalance: number }
  | { move: string };

export interface LedgerBounds {
  /** The owners that have a hash key at the beginning. */
  owners: readonly string[];
  /** Whether all owners are on one of the two shards, so that a rebalance must move some owners. */
  skewed?: boolean;
  /** The actions, each in a process of its own, in parallel. */
  work: readonly LedgerWork[];
  /**
   * The maximum number of faults in a run. The faults are: a request fails before it is applied, a process crashes, the response to
   * a write of the head is lost, or the SDK sends such a write again. If a failed request ends the process anyway, the scenario
   * plays no crash at this point.
   */
  faults: number;
}

const RANGES = uniformRanges(2);

/** Several processes, each with a ledger, use one table. */
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
  const inputs = new ProcessInputs((part) => table.text(part));
  const processes = work.map((_, index) => new Process(world, some, inputs, `process ${index + 1}`, table));
  world.setState(() => {
    const reports = processes.map(({ isThere, changed, isInDoubt }) => isThere && [changed, isInDoubt]);
    return table.text([inputs.all(), reports, some.rest, table.state]);
  });
  await world.until(
    Promise.all(
      processes.map((process, index) => {
        const done = run(work[index]!, process, before).then(() => process.leave());
        return Promise.race([done, process.end]);
      }),
    ),
  );
  await world.untilAllStepsAreTaken();
  check(await new HashKeyLedger(table.store()).list(), table);
}

/** Runs one action. The report of the ledger must match its own commits. */
async function run(what: LedgerWork, process: Process, before: readonly HashKeyOwner[]): Promise<void> {
  // The head of the registry contains only one entry, so that the ledger also needs the other entries.
  const ledger = new HashKeyLedger(process.store, { clock: process.clock, random: () => 0, maxEntries: 1 });
  const hasOneCommit = !('allocate' in what && what.allocate.length > 1) && !('rebalance' in what);
  process.remembers = () => {
    const { commits } = ledger as unknown as { commits: { state?: RegistryState; settledVersion: number } };
    const { state, settledVersion } = commits;
    const known = state && [state.version, [...state.owners.values()].sort(byOwner)];
    return [known, settledVersion, hasOneCommit || [...process.sentRequests]];
  };
  // A process without the response to its last commit does not report that commit.
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
        'allocate returns what it committed',
      );
    } else if ('release' in what) {
      const released = await ledger.release(what.release);
      promise(sameOwners(released.flatMap((owner) => owner?.owner ?? [])), 'release reports what it committed');
    } else if ('rebalance' in what) {
      const moves = await ledger.rebalance(RANGES, what.rebalance).catch((error) => {
        if (error instanceof PartialRebalanceError) return error.moves;
        throw error;
      });
      promise(moves.length <= what.rebalance, 'a rebalance makes no more moves than requested');
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
  /** The possible keys of entries. */
  readonly places: readonly string[];
  head?: RegistryHead;
  readonly entries = new Map<string, RegistryEntry>();
  /** The last committed change of each owner. */
  readonly committed = new Map<string, RegistryEntry>();
  /** The random id of each commit, and its number. */
  private readonly ids = new Map<string, string>();
  /** Writes of entries that would change the table. */
  private readonly pending = new Map<() => void, RegistryEntry>();

  constructor(everyone: readonly string[]) {
    this.places = everyone.map((owner) => placeOf({ owner }));
  }

  /** Everything that a ledger can read, and the committed entries. */
  get state(): unknown {
    return [this.head, this.everyEntry(), [...this.committed.values()].sort(byOwner)];
  }

  /** A part of a state as text, with numbers instead of random ids. */
  text(part: unknown): string {
    let text = stateText(part);
    for (const [id, commit] of this.ids) text = text.replaceAll(id, commit);
    return text;
  }

  /** Returns a store whose requests are no steps: each request is applied immediately. */
  store(): RegistryStore {
    return {
      readHead: async () => this.head,
      writeHead: async (head, expected) => this.writeHead(head, expected),
      readEntry: async (owner) => this.entries.get(owner),
      readEntries: async () => this.everyEntry(),
      writeEntry: async (entry) => this.writeEntry(entry),
    };
  }

  /** The entries, in an order that does not depend on the order of the writes. */
  everyEntry(): RegistryEntry[] {
    return [...this.entries.values()].sort(byOwner);
  }

  writeHead(head: RegistryHead, expected: number): boolean {
    if ((this.head?.version ?? 0) !== expected) return false;
    promise(head.version === expected + 1, 'each commit has the next version after the previous commit');
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

  /** Resolves when this entry or a later entry of its owner is stored. A write of this entry then changes nothing. */
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
  /** The changes that the process has committed. */
  readonly changed: RegistryEntry[] = [];
  isThere = true;
  /** Returns the state that its ledger keeps in memory. */
  remembers!: () => unknown;
  /** Its requests in order. They show how many commits have begun. */
  readonly sentRequests: string[] = [];
  /** Resolves when the process has crashed. */
  readonly end: Promise<void>;
  /** Whether the response to the last write of the head was lost, and the process has not read the head since. */
  isInDoubt = false;
  private stop!: () => void;
  private hasRead = false;

  constructor(
    private readonly world: World,
    private readonly faults: Faults,
    private readonly inputs: ProcessInputs,
    private readonly name: string,
    private readonly table: Table,
  ) {
    this.end = new Promise((resolve) => {
      this.stop = resolve;
    });
  }

  /** Called when the action or the process has ended. The inputs of the process do not matter any more. */
  leave(): void {
    this.isThere = false;
    this.inputs.remove(this.name);
    this.stop();
  }

  /** From now on, only the memory of the ledger decides about the next actions, so earlier inputs do not matter any more. */
  private decide(): void {
    this.hasRead = false;
    this.inputs.remove(this.name);
    this.addInput(this.remembers());
  }

  private addInput(what: unknown): void {
    if (this.isThere) this.inputs.add(this.name, what);
  }

  /**
   * The waits between attempts at a commit end immediately, because the next read of the head can take any time. After a wait
   * the process continues with the memory of its ledger.
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

  /**
   * A request is applied at some moment, or fails before that moment. A write can also fail after it was applied, or the SDK sends
   * it twice.
   */
  private request<T>(what: string, { reads = [], writes = [] }: Partial<Footprint>, apply: () => T): Promise<T> {
    const isWrite = writes.length > 0;
    this.beginRequest(what, isWrite);
    const name = `${this.name} ${what}`;
    const footprint = { reads, writes: [...writes, this.name] };
    return new Promise((resolve, reject) => {
      const fail = (): void => {
        this.addInput('failed');
        reject(new Error('scripted'));
      };
      const answer = (): void => {
        const response = apply();
        this.addInput(response);
        resolve(response);
      };
      const lose = (): void => {
        apply();
        this.isInDoubt = true;
        fail();
      };
      // The SDK sends the request again, immediately or after other writes.
      const retry = (): void => {
        apply();
        this.world.offer(`${name}, again`, footprint, answer);
      };
      this.oneOf(footprint, [
        [this.world, name, answer],
        [this.faults, `${name}, and fails`, fail],
        ...(isWrite
          ? ([
              [this.faults, `${name}, and its response is lost`, lose],
              [this.faults, `${name}, and its response is lost to the SDK`, retry],
            ] as const)
          : []),
      ]);
    });
  }

  /** Resolves when this process or another process has stored the entry. The response to a write of an entry has no effect. */
  private writeEntry(entry: RegistryEntry): Promise<void> {
    const what = `writes the entry of ${entry.owner}`;
    this.beginRequest(what, true);
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

  /** When a process starts to write, the content of the write depends only on the memory of its ledger. */
  private beginRequest(what: string, isWrite: boolean): void {
    if (isWrite && this.hasRead) this.decide();
    this.hasRead ||= !isWrite;
    this.sentRequests.push(what);
  }

  /** Offers several steps. Exactly one happens. */
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

/** Checks the table at the end. */
function check(owners: readonly HashKeyOwner[], { committed }: Table): void {
  const keys = new Set(owners.map(({ hashKey }) => hashKey));
  promise(keys.size === owners.length, 'no two owners have one key');
  const listed = new Map(owners.map(({ owner, hashKey }) => [owner, hashKey]));
  const isListed = [...committed.values()].every(({ owner, hashKey }) => listed.get(owner) === hashKey);
  promise(isListed, 'a new ledger finds every commit');
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
