import { randomBytes } from 'node:crypto';
import { backoffMs } from '../kernel/backoff';
import type { Clock } from '../kernel/clock';
import { RegistryBusyError, UncertainCommitError } from './registry-errors';
import { checkedHead, hasAllSince, headAfter, idOfCommit, latest, readHead } from './registry-head';
import { type RegistryChange, RegistryState } from './registry-state';
import type { RegistryHead, RegistryStore } from './registry-store';

/** The result of a decision on a state: the changes to commit, and the answer once they are committed. */
interface Decision<T> {
  changes: readonly RegistryChange[];
  answer: T;
}

/** A call that waits for its commit. */
interface WaitingCall {
  /**
   * Decides on a state: which changes to commit, and how to tell the caller about the end of the call once they are
   * committed.
   */
  decide(state: RegistryState): { changes: readonly RegistryChange[]; tell(): void };
  reject(error: unknown): void;
  /** How often a commit with this call was refused. */
  refusals: number;
}

/** The first waiting calls that fit into one commit, and the changes of all of them. */
interface Group {
  readonly tell: readonly (() => void)[];
  readonly changes: readonly RegistryChange[];
}

/** The most attempts of one call to commit. An attempt fails only because another commit has succeeded. */
const MAX_ATTEMPTS = 100;
const BACKOFF_BASE_MS = 10;
/**
 * No wait is longer than the wait of this attempt. It is long enough for the commits of others to succeed even in a slow
 * store.
 */
const BACKOFF_CAP_ATTEMPTS = 40;
const BACKOFF_CAP_MS = 5_000;

/** Commits the decisions of one process, and follows the commits of all others. */
export class RegistryCommits {
  private state: RegistryState | undefined;
  private settledVersion = 0;
  private readonly waiting: WaitingCall[] = [];
  private turn: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly store: RegistryStore,
    private readonly options: { maxEntries: number; clock: Clock; random(): number },
  ) {}

  /**
   * Commits the changes that `decide` derives from the latest state, or nothing if there are none. Returns the answer of
   * the decision that was committed.
   *
   * @param decide may be called several times. A decision, even an error, counts only if its state is the latest
   */
  commit<T>(decide: (state: RegistryState) => Decision<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const decideOrFail = (state: RegistryState): ReturnType<WaitingCall['decide']> => {
        try {
          const { changes, answer } = decide(state);
          return { changes, tell: () => resolve(answer) };
        } catch (error) {
          return { changes: [], tell: () => reject(error) };
        }
      };
      this.waiting.push({ decide: decideOrFail, reject, refusals: 0 });
      void this.inTurn(() => this.commitWaiting());
    });
  }

  latestState(): Promise<RegistryState> {
    return this.inTurn(async () => {
      await this.catchUp(await readHead(this.store));
      return this.state!;
    });
  }

  /** Commits waiting calls: the first one, and as many after it as there is room for. */
  private async commitWaiting(): Promise<void> {
    const [first] = this.waiting;
    while (first !== undefined && this.waiting[0] === first) {
      const begunAtMs = this.options.clock.now();
      let group: Group | undefined;
      try {
        const head = await this.catchUp(await readHead(this.store));
        group = this.decideWaiting();
        if (group.changes.length === 0 || (await this.commitChanges(group.changes, head))) {
          this.waiting.splice(0, group.tell.length);
          for (const tell of group.tell) tell();
          return;
        }
        for (const call of this.waiting.slice(0, group.tell.length)) call.refusals += 1;
      } catch (error) {
        // If the head could not be read, only the first call fails: the others read it in their own turns.
        for (const { reject } of this.waiting.splice(0, group?.tell.length ?? 1)) reject(error);
        return;
      }
      while (this.waiting[0]?.refusals === MAX_ATTEMPTS)
        this.waiting.shift()!.reject(new RegistryBusyError(MAX_ATTEMPTS));
      await this.backOff(first.refusals, this.options.clock.now() - begunAtMs);
    }
  }

  /** Decides for the first waiting calls, each on the state that the calls before it produce. */
  private decideWaiting(): Group {
    const state = this.state!;
    const tell: (() => void)[] = [];
    const changes = new Map<string, RegistryChange>();
    const takeBack: (() => void)[] = [];
    for (const call of this.waiting) {
      const decided = call.decide(state);
      const added = decided.changes.filter(({ owner }) => !changes.has(owner));
      if (changes.size + added.length > this.options.maxEntries) break;
      for (const change of decided.changes) changes.set(change.owner, change);
      takeBack.unshift(state.assume(decided.changes));
      tell.push(decided.tell);
    }
    for (const each of takeBack) each();
    return { tell, changes: [...changes.values()] };
  }

  /** Commits changes on top of a head. Returns false if another commit has taken that place. */
  private async commitChanges(changes: readonly RegistryChange[], head: RegistryHead): Promise<boolean> {
    await this.settle(head);
    const id = randomBytes(8).toString('base64url');
    const next = headAfter(head, id, changes, this.options.maxEntries);
    const written = await this.writeHead(next, id);
    if (written === undefined) return false;
    applyRecent(this.state!, next);
    // From here on the commit cannot fail: if its entries are not written now, the next commit writes them first.
    await this.settle(written).catch(() => {});
    return true;
  }

  /**
   * Writes a head on top of the one before. Returns a head that has its commit, or undefined if another commit has taken
   * its place.
   *
   * The store may refuse a head that it has written: when the first answer is lost, the SDK sends the write again, and the
   * condition fails. So the commit has an id, and the head that is stored instead tells at once whose commit it is. Later
   * heads forget it.
   *
   * @throws UncertainCommitError if so many commits followed that the head has forgotten this one
   */
  private async writeHead(next: RegistryHead, id: string): Promise<RegistryHead | undefined> {
    const { version } = next;
    let refusal: RegistryHead | boolean;
    try {
      refusal = await this.store.writeHead(next, version - 1);
    } catch (error) {
      // The error counts only if the head was not written after all.
      const head = await readHead(this.store).catch(() => undefined);
      if (head !== undefined && idOfCommit(head, version) === id) return head;
      throw error;
    }
    if (refusal === true) return next;
    const head = refusal === false ? await readHead(this.store) : checkedHead(refusal);
    const madeBy = idOfCommit(head, version);
    if (madeBy === undefined && version < head.version) throw new UncertainCommitError();
    return madeBy === id ? head : undefined;
  }

  /** Writes the entries of the latest commit, in case its own ledger did not. */
  private async settle({ version, recent }: RegistryHead): Promise<void> {
    if (this.settledVersion === version) return;
    const own = recent.filter((entry) => entry.version === version);
    await Promise.all(own.map((entry) => this.store.writeEntry(entry)));
    this.settledVersion = version;
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

  private backOff(refusals: number, attemptMs: number): Promise<void> {
    const { clock, random } = this.options;
    const backoffCapMs = Math.min(BACKOFF_CAP_MS, BACKOFF_CAP_ATTEMPTS * Math.max(BACKOFF_BASE_MS, attemptMs));
    return clock.sleep(backoffMs(refusals + 1, { backoffBaseMs: BACKOFF_BASE_MS, backoffCapMs, random }));
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.turn.then(work);
    this.turn = result.catch(() => {});
    return result;
  }
}

function applyRecent(state: RegistryState, { version, recent }: RegistryHead): void {
  for (let next = state.version + 1; next <= version; next++) {
    state.apply(
      next,
      recent.filter((entry) => entry.version === next),
    );
  }
}
