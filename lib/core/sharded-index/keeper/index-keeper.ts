import type { DynamoDbItem } from '../../aws-client/attribute-value';
import { consumedUnits } from '../../aws-client/consumed-units';
import { checkPositive } from '../../kernel/checks';
import { type Clock, systemClock } from '../../kernel/clock';
import { inParallel } from '../../kernel/in-parallel';
import { Stopped } from '../../kernel/pause';
import { RecentMap } from '../../kernel/recent-map';
import { UnitBudget } from '../../kernel/unit-budget';
import type { ShardedConfigSource, ShardedIndexConfig } from '../config/sharded-index-config';
import type { ItemReshardClient } from '../strays/table-client';
import { type CheckOutcome, type FirstAttempt, ItemCorrector } from './item-corrector';
import type { KeeperStore, NamedItem, NamedItems, SetAsideReason, Sweep, SweepReason } from './keeper-store';
import { pageItems, type SweepPage, sweepPage } from './sweep-page';
import { SweepTooEarlyError } from './sweep-too-early-error';
import { type TableChange, tableChanges } from './table-change';

/** Options of an `IndexKeeper`. */
export interface IndexKeeperOptions {
  /**
   * Whether the keeper corrects items. If `false`, it counts the items that it would correct, and names some of them.
   * @default true
   */
  correct?: boolean;
  /**
   * The maximum number of read units a second of a sweep, above 0. A sweep reads at least one item in each minute. Below 11
   * units a second, an item of more than 4 KB can cost more than the units of its minute.
   * @default 100
   */
  sweepReadUnitsPerSecond?: number;
  /** Sends the first attempt of each correction, for example to report throttled writes. @default only sends it */
  firstAttempt?: FirstAttempt;
  /** @default the system clock */
  clock?: Clock;
  /** Returns the time of day in milliseconds since 1970. @default Date.now */
  timeOfDay?: () => number;
  /** A source of numbers in [0, 1), for the delays between attempts. @default Math.random */
  random?: () => number;
}

/** How many items had each outcome, and how many items have a value or a sort key that cannot be part of an index key. */
export type CheckCounts = Record<CheckOutcome | 'notKept', number>;

/** The result of a batch. */
interface KeptBatch {
  counts: CheckCounts;
  /** The greatest time between a change and its check, in milliseconds. 0 for a batch without changes. */
  delayMs: number;
  /** The sequence number of the first record that Lambda must deliver again, with all later records. */
  firstUnfinished?: string;
  /** The errors of items that are not finished. */
  problems: unknown[];
}

/** The items that a keeper has set aside. */
interface AsideItems {
  /** Items whose corrections another program undoes. */
  contested: number;
  /** Items whose corrections DynamoDB rejects. */
  rejected: number;
  /** The errors of items that could not be checked again. */
  problems: unknown[];
}

/** How many items a keeper checks in parallel. */
const CONCURRENCY = 20;

/**
 * A record is late if it is almost as old as the oldest record that a stream keeps. Older records may be lost. Source: the
 * DynamoDB developer guide, "Change data capture for DynamoDB Streams": a stream keeps a record for 24 hours.
 */
const LATE_MS = 23 * 60 * 60 * 1_000;

/** A keeper checks an item that it has set aside again after a minute. The wait doubles with each check, up to an hour. */
const FIRST_WAIT_MS = 60_000;
const LONGEST_WAIT_MS = 60 * 60_000;

/** The number of items that a process names in a minute, in addition to items that it sets aside. */
const NAMES_PER_MINUTE = 20;

/** The number of items for which a process remembers when it has set them aside. */
const MAX_ASIDE = 10_000;

/**
 * Gives each item of a table the shard attributes of all its sharded indexes. It reads the stream of the table, so that writers
 * need to know nothing about shards.
 *
 * The keeper compares the image of each change with the shard attributes that a writer would give the item. It corrects an item
 * only if queries do not find it, or find it under an outdated value. A correction changes only shard attributes. Its condition is
 * that the item exists, and has the values and the shard attributes of the image. If the condition fails, another writer has
 * changed the item, and the stream has a later record of the item. So the keeper may process records late, repeatedly and in any
 * order.
 */
export class IndexKeeper {
  private readonly corrector: ItemCorrector;
  private readonly clock: Clock;
  private readonly timeOfDay: () => number;
  private readonly sweepReadUnitsPerSecond: number;
  /** When this process has set items aside, in milliseconds since 1970. */
  private readonly setAsideAt = new RecentMap<string, number>(MAX_ASIDE);
  private names = { minute: 0, count: 0 };
  /** The stream that the stored state names. */
  private knownStream: string | undefined;

  /**
   * @param client a DynamoDB client without retries, because the keeper makes its own
   * @param indexes the configurations of the indexes. For adaptive counts, pass the `AdaptiveIndex`
   * @throws InvalidArgumentError if one item cannot have the shard attributes of all indexes, or an option is out of bounds
   */
  constructor(
    private readonly client: ItemReshardClient,
    indexes: readonly (ShardedIndexConfig | ShardedConfigSource)[],
    private readonly store: KeeperStore,
    options: IndexKeeperOptions = {},
  ) {
    const { correct = true, firstAttempt = (_, send) => send(), random = Math.random } = options;
    this.clock = options.clock ?? systemClock;
    this.timeOfDay = options.timeOfDay ?? Date.now;
    this.sweepReadUnitsPerSecond = options.sweepReadUnitsPerSecond ?? 100;
    checkPositive('sweepReadUnitsPerSecond', this.sweepReadUnitsPerSecond);
    this.corrector = new ItemCorrector(client, indexes, { correct, firstAttempt, random, clock: this.clock });
  }

  /**
   * Checks the items of a batch of the table's stream. An item is finished if it is right, or if the store has it as an item to
   * check again. The batch ends early if the signal aborts.
   *
   * @throws InvalidArgumentError if the event is not from the stream of the table
   * @throws the error of the store if it cannot read or replace the state
   */
  async keep(event: unknown, signal: AbortSignal): Promise<KeptBatch> {
    const { tableName, tableKey, attributes } = this.corrector;
    const { streamArn, changes } = tableChanges(event, tableName, tableKey, attributes);
    const oldestMs = Math.min(...changes.map(({ changedAtMs }) => changedAtMs));
    await this.noteStream(streamArn, this.timeOfDay() - oldestMs > LATE_MS);
    const counts = noCounts();
    const problems: unknown[] = [];
    const finished = new Set<TableChange>();
    let delayMs = 0;
    await eachUntilAborted(changes, signal, async (change) => {
      try {
        await this.check(change, change.image, counts, signal);
        delayMs = Math.max(delayMs, this.timeOfDay() - change.changedAtMs);
        finished.add(change);
      } catch (error) {
        problems.push(error);
      }
    });
    const [first] = changes.filter((change) => !finished.has(change)).sort((a, b) => a.batchIndex - b.batchIndex);
    return { counts, delayMs, problems, ...(first && { firstUnfinished: first.sequenceNumber }) };
  }

  /**
   * Checks the items again that are set aside and due. Call this method every minute.
   *
   * @throws the error of the store if it cannot read its items
   */
  async checkAgain(signal: AbortSignal): Promise<AsideItems> {
    const aside: AsideItems = { contested: 0, rejected: 0, problems: [] };
    let cursor: string | undefined;
    do {
      const page = await this.store.page(cursor);
      await eachUntilAborted(page.items, signal, async (item) => {
        const { reason, dueAtMs } = item;
        if (reason !== 'contested' && reason !== 'rejected') return;
        try {
          if (dueAtMs! <= this.timeOfDay() && !(await this.isStillAside(item, signal))) return;
        } catch (error) {
          aside.problems.push(error);
        }
        aside[reason] += 1;
      });
      cursor = page.cursor;
    } while (cursor !== undefined && !signal.aborted);
    return aside;
  }

  /**
   * Continues a sweep that a person has started, until the signal aborts. Call this method every minute, for at most 30
   * seconds. If two processes continue the sweep, they check some pages twice.
   *
   * @returns whether a sweep is due that no person has started, and the errors of items that delayed the sweep
   * @throws the error of the store or of the table
   */
  async continueSweep(
    signal: AbortSignal,
  ): Promise<{ isDue: boolean; counts: CheckCounts; problems: readonly unknown[] }> {
    const counts = noCounts();
    const budget = new UnitBudget(this.sweepReadUnitsPerSecond, this.clock, signal, consumedUnits);
    const limit = pageItems(this.sweepReadUnitsPerSecond);
    for (;;) {
      const before = await this.store.readState();
      const sweep = before?.sweep;
      if (before === undefined || sweep?.isStarted !== true || signal.aborted) {
        return { isDue: sweep?.isStarted === false, counts, problems: [] };
      }
      const correctedBefore = counts.corrected;
      let page: SweepPage;
      try {
        page = await sweepPage(this.client, this.corrector, sweep.position, budget, limit);
        await eachUntilAborted(page.items, signal, (item) => this.check(item, item.image, counts, signal));
      } catch (error) {
        if (!signal.aborted) throw error;
        // The next call repeats this page.
        return { isDue: false, counts, problems: error instanceof Stopped ? [] : [error] };
      }
      if (signal.aborted) continue;
      const { items, next } = page;
      const { sweep: _, ...rest } = before;
      const progress: Sweep = {
        ...sweep,
        checked: sweep.checked + items.length,
        corrected: sweep.corrected + counts.corrected - correctedBefore,
        ...(next && { position: next }),
      };
      await this.store.replaceState(before, next === undefined ? rest : { ...rest, sweep: progress });
    }
  }

  /**
   * Starts a check of the whole table, which `continueWork` makes. A sweep that is in progress begins again.
   *
   * @throws SweepTooEarlyError if the keeper has not processed a stream record: changes that are made during the sweep could
   *   be lost
   */
  async startSweep(): Promise<void> {
    for (;;) {
      const before = await this.store.readState();
      if (before === undefined) throw new SweepTooEarlyError();
      const { reason = 'requested', dueSinceMs = this.timeOfDay() } = before.sweep ?? {};
      const sweep = { reason, dueSinceMs, isStarted: true, checked: 0, corrected: 0 };
      if (await this.store.replaceState(before, { ...before, sweep })) return;
    }
  }

  /** The sweep that is due or in progress. Undefined if every item was checked. */
  async sweep(): Promise<Sweep | undefined> {
    return (await this.store.readState())?.sweep;
  }

  /** A page of the items that the keeper reports by their keys. */
  named(cursor?: string): Promise<NamedItems> {
    return this.store.page(cursor);
  }

  /** Notes that a sweep is due if the keeper may have missed changes. */
  private async noteStream(streamArn: string, isLate: boolean): Promise<void> {
    while (isLate || this.knownStream !== streamArn) {
      const before = await this.store.readState();
      const reason: SweepReason | undefined =
        before === undefined
          ? 'firstRecords'
          : before.streamArn !== streamArn
            ? 'anotherStream'
            : isLate
              ? 'lateRecords'
              : undefined;
      const isDue = before?.streamArn === streamArn && before.sweep?.isStarted === false;
      if (reason !== undefined && !isDue) {
        const sweep = { reason, dueSinceMs: this.timeOfDay(), isStarted: false, checked: 0, corrected: 0 };
        if (!(await this.store.replaceState(before, { ...before, streamArn, sweep }))) continue;
      }
      this.knownStream = streamArn;
      return;
    }
  }

  /** Checks an item, and counts and names the result. */
  private async check(
    { key, keyText }: { key: DynamoDbItem; keyText: string },
    image: DynamoDbItem | undefined,
    counts: CheckCounts,
    signal: AbortSignal,
  ): Promise<void> {
    const { outcome, wrong, notKept } = await this.corrector.check(key, keyText, image, signal);
    const [found] = [...notKept, ...(outcome === 'wrong' ? wrong : [])];
    if (outcome === 'contested' || outcome === 'rejected') await this.setAside(key, keyText, outcome);
    else if (outcome === 'invalidKey') await this.name(key, keyText, outcome);
    else if (found !== undefined) await this.name(key, keyText, found.stray.reason);
    counts[outcome] += 1;
    if (notKept.length > 0 || outcome === 'invalidKey') counts.notKept += 1;
  }

  /**
   * Stores an item, to check it again. The store checks a recent entry again after a minute. A process adds no entry for half a
   * minute, because the clocks of two processes can differ.
   */
  private async setAside(key: DynamoDbItem, keyText: string, reason: SetAsideReason): Promise<void> {
    const now = this.timeOfDay();
    const age = now - (this.setAsideAt.get(keyText) ?? Number.NEGATIVE_INFINITY);
    if (age >= 0 && age < FIRST_WAIT_MS / 2) return;
    await this.store.put({ key, keyText, reason, sinceMs: now, dueAtMs: now + FIRST_WAIT_MS, checks: 0 });
    this.setAsideAt.set(keyText, now);
  }

  /** Stores the key of an item for a person. There can be very many such items, so the keeper names only some. */
  private async name(key: DynamoDbItem, keyText: string, reason: NamedItem['reason']): Promise<void> {
    const now = this.timeOfDay();
    const minute = Math.floor(now / 60_000);
    if (minute !== this.names.minute) this.names = { minute, count: 0 };
    this.names.count += 1;
    if (this.names.count > NAMES_PER_MINUTE) return;
    // The stream must not wait for the name of an item.
    await this.store.put({ key, keyText, reason, sinceMs: now, checks: 0 }).catch(() => {});
  }

  private async isStillAside(item: NamedItem, signal: AbortSignal): Promise<boolean> {
    const { outcome } = await this.corrector.check(item.key, item.keyText, undefined, signal);
    // A later write of an item with an invalid key creates a stream record.
    if (outcome === 'right' || outcome === 'invalidKey') {
      await this.store.remove(item.keyText);
      return false;
    }
    const waitMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** item.checks);
    await this.store.put({ ...item, checks: item.checks + 1, dueAtMs: this.timeOfDay() + waitMs });
    return true;
  }
}

/** Works on items in parallel, until the signal aborts. */
function eachUntilAborted<T>(
  items: readonly T[],
  signal: AbortSignal,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  return inParallel(items, CONCURRENCY, work, () => signal.aborted);
}

function noCounts(): CheckCounts {
  return { right: 0, corrected: 0, changed: 0, wrong: 0, contested: 0, rejected: 0, invalidKey: 0, notKept: 0 };
}
