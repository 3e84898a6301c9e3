import { randomBytes } from 'node:crypto';
import { backoffMs } from '../kernel/backoff';
import type { Clock } from '../kernel/clock';
import { RegistryBusyError, UncertainCommitError } from './registry-errors';
import { checkedHead, hasAllSince, headAfter, idOfCommit, latest, readHead } from './registry-head';
import { type RegistryChange, RegistryState } from './registry-state';
import type { RegistryHead, RegistryStore } from './registry-store';

/** The changes to commit, and the result that the caller gets after the commit. */
interface Decision<T> {
  changes: readonly RegistryChange[];
  result: T;
}

interface WaitingCall {
  /** Decides from the latest state which changes to commit. `notify` gives the caller its result after the commit. */
  decide(state: RegistryState): { changes: readonly RegistryChange[]; notify(): void };
  reject(error: unknown): void;
  /** How many commits with this call have failed because another ledger committed first. */
  lostAttempts: number;
}

/** The waiting calls that share one commit, and their changes. */
interface Group {
  readonly notify: readonly (() => void)[];
  readonly changes: readonly RegistryChange[];
}

/** The maximum number of attempts to commit the changes of a call. An attempt fails only because another commit has succeeded. */
const MAX_ATTEMPTS = 100;
const BACKOFF_BASE_MS = 10;
/**
 * The longest delay, as a multiple of the duration of an attempt. So other ledgers have time to commit even if the store is
 * slow.
 */
const BACKOFF_CAP_ATTEMPTS = 40;
const BACKOFF_CAP_MS = 5_000;

/** Commits the changes of one process, and applies the commits of all other processes. */
export class RegistryCommits {
  private state: RegistryState | undefined;
  private settledVersion = 0;
  private readonly waiting: WaitingCall[] = [];
  private previous: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly store: RegistryStore,
    private readonly options: { maxEntries: number; clock: Clock; random(): number },
  ) {}

  /**
   * Commits the changes that `decide` derives from the latest state. Returns the result of the committed decision.
   *
   * @param decide may be called several times; its result or its error counts only if the state that it got is still the latest
   */
  commit<T>(decide: (state: RegistryState) => Decision<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const decideOrFail = (state: RegistryState): ReturnType<WaitingCall['decide']> => {
        try {
          const { changes, result } = decide(state);
          return { changes, notify: () => resolve(result) };
        } catch (error) {
          return { changes: [], notify: () => reject(error) };
        }
      };
      this.waiting.push({ decide: decideOrFail, reject, lostAttempts: 0 });
      void this.runInOrder(() => this.commitWaiting());
    });
  }

  latestState(): Promise<RegistryState> {
    return this.runInOrder(async () => {
      await this.catchUp(await readHead(this.store));
      return this.state!;
    });
  }

  /** Commits the first waiting call, together with as many later calls as fit into the commit. */
  private async commitWaiting(): Promise<void> {
    const [first] = this.waiting;
    while (first !== undefined && this.waiting[0] === first) {
      const begunAtMs = this.options.clock.now();
      let group: Group | undefined;
      try {
        const head = await this.catchUp(await readHead(this.store));
        group = this.decideWaiting();
        if (group.changes.length === 0 || (await this.commitChanges(group.changes, head))) {
          this.waiting.splice(0, group.notify.length);
          for (const notify of group.notify) notify();
          return;
        }
        for (const call of this.waiting.slice(0, group.notify.length)) call.lostAttempts += 1;
      } catch (error) {
        // If the head could not be read, only the first call fails. The other calls will read the head again.
        for (const { reject } of this.waiting.splice(0, group?.notify.length ?? 1)) reject(error);
        return;
      }
      while (this.waiting[0]?.lostAttempts === MAX_ATTEMPTS)
        this.waiting.shift()!.reject(new RegistryBusyError(MAX_ATTEMPTS));
      await this.backOff(first.lostAttempts, this.options.clock.now() - begunAtMs);
    }
  }

  /**
   * Computes the changes of as many waiting calls as fit into one commit. Each call sees the changes of the calls before it.
   */
  private decideWaiting(): Group {
    const state = this.state!;
    const notify: (() => void)[] = [];
    const changes = new Map<string, RegistryChange>();
    const undo: (() => void)[] = [];
    for (const call of this.waiting) {
      const decided = call.decide(state);
      const added = decided.changes.filter(({ owner }) => !changes.has(owner));
      if (changes.size + added.length > this.options.maxEntries) break;
      for (const change of decided.changes) changes.set(change.owner, change);
      undo.unshift(state.applyForNow(decided.changes));
      notify.push(decided.notify);
    }
    for (const each of undo) each();
    return { notify, changes: [...changes.values()] };
  }

  /** Commits changes as the next version after a head. Returns false if another ledger has committed that version. */
  private async commitChanges(changes: readonly RegistryChange[], head: RegistryHead): Promise<boolean> {
    await this.settle(head);
    const id = randomBytes(8).toString('base64url');
    const next = headAfter(head, id, changes, this.options.maxEntries);
    const written = await this.writeHead(next, id);
    if (written === undefined) return false;
    applyRecent(this.state!, next);
    // The commit has succeeded. If its entries are not written now, the next commit writes them first.
    await this.settle(written).catch(() => {});
    return true;
  }

  /**
   * Writes the head of the next version. Returns a head that contains this commit, or undefined if another ledger has committed
   * that version.
   *
   * The condition can fail although the store has written this head: if the first response is lost, the SDK sends the write
   * again. So each commit has an id, and the stored head shows the id of the commit that succeeded.
   *
   * @throws UncertainCommitError if many commits followed, so that the stored head no longer has the id of this version
   */
  private async writeHead(next: RegistryHead, id: string): Promise<RegistryHead | undefined> {
    const { version } = next;
    let outcome: RegistryHead | boolean;
    try {
      outcome = await this.store.writeHead(next, version - 1);
    } catch (error) {
      // The head may have been written in spite of the error.
      const head = await readHead(this.store).catch(() => undefined);
      if (head !== undefined && idOfCommit(head, version) === id) return head;
      throw error;
    }
    if (outcome === true) return next;
    const head = outcome === false ? await readHead(this.store) : checkedHead(outcome);
    const storedId = idOfCommit(head, version);
    if (storedId === undefined && version < head.version) throw new UncertainCommitError();
    return storedId === id ? head : undefined;
  }

  /** Writes the entries of the latest commit, because the ledger of that commit may have failed to write them. */
  private async settle({ version, recent }: RegistryHead): Promise<void> {
    if (this.settledVersion === version) return;
    const own = recent.filter((entry) => entry.version === version);
    await Promise.all(own.map((entry) => this.store.writeEntry(entry)));
    this.settledVersion = version;
  }

  /**
   * Updates the state to the head. Applies the new commits, or reads all entries if the head does not contain all new commits.
   * Returns the head of the updated state.
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
      const lowestVersion = Math.max(0, before.version - 1);
      if (hasAllSince(after, lowestVersion)) {
        this.state = new RegistryState(after.version, latest([...entries, ...after.recent]));
        return after;
      }
      before = after;
    }
    throw new RegistryBusyError(MAX_ATTEMPTS);
  }

  private backOff(lostAttempts: number, attemptMs: number): Promise<void> {
    const { clock, random } = this.options;
    const backoffCapMs = Math.min(BACKOFF_CAP_MS, BACKOFF_CAP_ATTEMPTS * Math.max(BACKOFF_BASE_MS, attemptMs));
    return clock.sleep(backoffMs(lostAttempts + 1, { backoffBaseMs: BACKOFF_BASE_MS, backoffCapMs, random }));
  }

  private runInOrder<T>(work: () => Promise<T>): Promise<T> {
    const result = this.previous.then(work);
    this.previous = result.catch(() => {});
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
