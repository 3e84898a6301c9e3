import {
  HashKeyLedger,
  type HashKeyOwner,
  PartialRebalanceError,
  type RegistryEntry,
  type RegistryHead,
  type RegistryStore,
  uniformRanges,
} from '../../../lib/core';
import { HASH_KEY_SPACE } from '../../../lib/core/foundation/hash-key-space';
import type { Scenario } from '../explore';
import { Faults } from '../faults';
import { Heard, stateText } from '../heard';
import type { World } from '../world';

/** What a process does with its ledger, once. */
export type LedgerWork =
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
   * How many things go wrong in a run: a write whose answer is lost, one that the SDK sends again, one that is not applied,
   * or the end of a process.
   */
  faults: number;
}

const RANGES = uniformRanges(2);

/** Processes, each with a ledger of its own, on one table. */
export function ledgerScenario(name: string, bounds: LedgerBounds): Scenario {
  return { name, play: (world) => play(world, bounds) };
}

async function play(world: World, { owners, skewed = false, work, faults }: LedgerBounds): Promise<void> {
  const table = new Table();
  const first = new HashKeyLedger(table.store());
  const fillers = skewed ? owners.map((owner) => `filler ${owner}`) : [];
  const before = await first.allocate(
    [...owners, ...fillers].map((owner) => ({ owner })),
    RANGES,
  );
  if (skewed)
    await first.release(before.flatMap(({ owner, hashKey }) => (hashKey < RANGES[1]!.startingHashKey ? owner : [])));
  const some = new Faults(world, faults);
  const heard = new Heard((part) => table.text(part));
  const names = work.map((_, index) => `process ${index + 1}`);
  const processes = names.map((name) => new Process(world, some, heard, name, names, table));
  world.says(() => {
    const written = processes.map(({ isThere, written }) => isThere && written.map(({ version }) => version));
    return table.text([heard.all(), written, some.rest, table.heads, table.everyEntry()]);
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
  const hasOneCommit = !('allocate' in what) || what.allocate.length === 1;
  process.remembers = () => {
    const { state, settledVersion } = ledger as unknown as { state?: { version: number }; settledVersion: number };
    return [state?.version, settledVersion, hasOneCommit || [...process.asked]];
  };
  const changed = (): RegistryEntry[] =>
    process.written.flatMap(({ version, recent }) => recent.filter((entry) => entry.version === version));
  const sameOwners = (reported: readonly string[]): boolean =>
    JSON.stringify(reported) === JSON.stringify(changed().map(({ owner }) => owner));
  try {
    if ('allocate' in what) {
      const answer = await ledger.allocate(
        what.allocate.map((owner) => ({ owner })),
        RANGES,
      );
      const keys = new Map(answer.map(({ owner, hashKey }) => [owner, hashKey]));
      promise(
        changed().every(({ owner, hashKey }) => keys.get(owner) === hashKey),
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
  readonly heads: RegistryHead[] = [];
  readonly entries = new Map<string, RegistryEntry>();
  /** The ids that ledgers drew for their commits, and the number of each commit. */
  private readonly ids = new Map<string, string>();

  /** A part of a state as text, with numbers in place of drawn ids. */
  text(part: unknown): string {
    let text = stateText(part);
    for (const [id, commit] of this.ids) text = text.replaceAll(id, commit);
    return text;
  }

  /** A way to the table without steps. */
  store(): RegistryStore {
    return {
      readHead: async () => this.heads.at(-1),
      writeHead: async (head, expected) => this.writeHead(head, expected),
      readEntry: async (owner) => this.entries.get(owner),
      readEntries: async () => this.everyEntry(),
      writeEntry: async (entry) => this.writeEntry(entry),
    };
  }

  /** In an order that does not depend on that of the writes. */
  everyEntry(): RegistryEntry[] {
    return [...this.entries.values()].sort((a, b) => (a.owner < b.owner ? -1 : 1));
  }

  writeHead(head: RegistryHead, expected: number): boolean {
    if ((this.heads.at(-1)?.version ?? 0) !== expected) return false;
    this.heads.push(head);
    this.ids.set(head.commits!.at(-1)!, `commit ${head.version}`);
    return true;
  }

  writeEntry(entry: RegistryEntry): void {
    if ((this.entries.get(entry.owner)?.version ?? 0) < entry.version) this.entries.set(entry.owner, entry);
  }
}

/** A process whose requests to the table are steps. */
class Process {
  /** The heads that this process has written. */
  readonly written: RegistryHead[] = [];
  /** Resolves when the process is gone. */
  readonly end: Promise<void>;
  isThere = true;
  /** What its ledger keeps. */
  remembers!: () => unknown;
  private stop!: () => void;
  private requests = 0;
  /** What it has asked for, in order. It says how many commits have begun. */
  readonly asked: string[] = [];
  private readonly tried: number[] = [];
  private hasRead = false;

  constructor(
    private readonly world: World,
    private readonly faults: Faults,
    private readonly heard: Heard,
    private readonly name: string,
    private readonly everyone: readonly string[],
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

  /** Whoever begins to write has decided by a version, and what it has read on the way to that does not matter any more. */
  private decide(): void {
    if (!this.hasRead) return;
    this.hasRead = false;
    this.heard.forget(this.name);
    this.requests = 0;
    this.hear([[...this.tried], this.remembers()]);
  }

  private hear(what: unknown): void {
    if (this.isThere) this.heard.hear(this.name, what);
  }

  /** It sleeps until its turn comes: the waits between attempts at a commit have any length. */
  get clock() {
    const sleep = async (): Promise<void> => {
      await this.world.answer(`${this.name} wakes ${++this.requests}`, { writes: [this.name] });
      this.hear('wakes');
    };
    return { now: () => 0, schedule: () => () => {}, sleep };
  }

  get store(): RegistryStore {
    const { table } = this;
    // In whatever order entries are written, the latest stay. So writes of entries commute, but not with reads of them.
    const entriesBy = (process: string): string => `entries by ${process}`;
    const entries = { reads: this.everyone.map(entriesBy) };
    return {
      readHead: () => this.request('reads the head', { reads: ['head'] }, () => table.heads.at(-1)),
      readEntries: () => this.request('reads the entries', entries, () => table.everyEntry()),
      readEntry: (owner) => this.request('reads an entry', entries, () => table.entries.get(owner)),
      writeEntry: (entry) =>
        this.request('writes an entry', { writes: [entriesBy(this.name)] }, () => table.writeEntry(entry), 'lost'),
      writeHead: (head, expected) =>
        this.request(
          'writes the head',
          { writes: ['head'] },
          () => {
            this.tried.push(head.version);
            const isWritten = table.writeHead(head, expected);
            if (isWritten) this.written.push(head);
            return isWritten;
          },
          'lost',
          'retried',
        ),
    };
  }

  /** A request is applied at some moment. It may fail before that or behind it, or be applied twice by the SDK. */
  private request<T>(
    what: string,
    { reads = [], writes = [] }: { reads?: string[]; writes?: string[] },
    apply: () => T,
    ...fates: ('lost' | 'retried')[]
  ): Promise<T> {
    if (writes.length > 0) this.decide();
    else this.hasRead = true;
    this.asked.push(what);
    const name = `${this.name} ${what} ${++this.requests}`;
    const footprint = { reads, writes: [...writes, this.name] };
    return new Promise((resolve, reject) => {
      let offers: (() => void)[] = [];
      const once = (happen: () => void) => () => {
        for (const takeBack of offers) takeBack();
        happen();
      };
      const fail = (): void => {
        this.hear('failed');
        reject(new Error('scripted'));
      };
      const answer = (): void => {
        const said = apply();
        this.hear(said);
        resolve(said);
      };
      const end = (): void => this.leave();
      offers = [
        this.world.offer(name, footprint, once(answer)),
        this.faults.offer(`${name}, and fails`, footprint, once(fail)),
        this.faults.offer(`${name}, and ends`, footprint, once(end)),
      ];
      if (fates.includes('lost')) {
        const lose = (): void => {
          apply();
          fail();
        };
        const applyAndEnd = (): void => {
          apply();
          end();
        };
        offers.push(this.faults.offer(`${name}, and its answer is lost`, footprint, once(lose)));
        offers.push(this.faults.offer(`${name}, and then ends`, footprint, once(applyAndEnd)));
      }
      if (fates.includes('retried')) {
        // The SDK sends the request again, at once or after others have written.
        const retry = (): void => {
          apply();
          this.world.offer(`${name}, again`, footprint, answer);
        };
        offers.push(this.faults.offer(`${name}, and its answer is lost to the SDK`, footprint, once(retry)));
      }
    });
  }
}

/** What holds of the table in the end. */
function check(owners: readonly HashKeyOwner[], { heads }: Table): void {
  const keys = new Set(owners.map(({ hashKey }) => hashKey));
  promise(keys.size === owners.length, 'no two owners have one key');
  promise(
    heads.every(({ version }, index) => version === index + 1),
    'each commit follows the one before',
  );
  const latest = new Map<string, bigint | undefined>();
  for (const { version, recent } of heads) {
    for (const entry of recent) if (entry.version === version) latest.set(entry.owner, entry.hashKey);
  }
  const listed = new Map(owners.map(({ owner, hashKey }) => [owner, hashKey]));
  const isListed = [...latest].every(([owner, hashKey]) => listed.get(owner) === hashKey);
  promise(isListed, 'a ledger that begins anew finds every commit');
}

function promise(isKept: boolean, words: string): void {
  if (!isKept) throw new Error(words);
}
