import { Bell } from './bell';
import { OutboxRowError } from './outbox-errors';
import type { OutboxRow, ParkedRow } from './outbox-row';
import type { KeyWithParkedRows, ParkedTable, RejectedRow } from './parked-table';
import type { RelaySettings } from './relay-options';
import type { RelaySummary } from './relay-summary';

/** A key whose rows wait in the table `parked`, and not in memory. */
interface ParkedKey {
  readonly partitionKey: string;
  /** A row was rejected, perhaps together with valid rows. So the rows of the key are tried one by one. */
  isSuspect: boolean;
  dueAtMs: number;
  isUnderWay: boolean;
  /** How many of its rows are still to be written to the table. */
  pending: number;
  /** Whether the table may have rows of the key that are to be read. It has none while the first row is still to be parked. */
  mayHaveRows: boolean;
  /** This worker has parked rows of the key since it last read them. The lowest number of these rows. */
  newFromId?: bigint;
  /** The rows up to this number, except new ones, are out of the table. Reads begin after it, and so skip dead rows. */
  afterId: bigint;
  /** A row was rejected after the last read, and is not in the table. The rows that were read must not pass it. */
  hasRejection: boolean;
}

interface RejectedParkedRow extends RejectedRow {
  readonly row: ParkedRow;
}

/** Puts rows, and reports the result of each. */
export type PutRows = (
  rows: readonly OutboxRow[],
  ends: {
    /** Whether the row may be sent. Called when the producer would take it. */
    mayGo(row: OutboxRow): boolean;
    delivered(row: OutboxRow): void;
    rejected(row: OutboxRow, error: Error): void;
  },
) => Promise<void>;

const MOST_PUTS = 4;

/** How many keys a put has at most. */
const KEYS_OF_A_PUT = 32;

const LONGEST_RETRY_MS = 60_000;

/**
 * The keys of a range that cannot go on in the order of the table `message`: a row of theirs was rejected, or they have so
 * many rows that they would keep others from being read. Their rows are copied to the table `parked`, where each key has
 * an order of its own, and sent from there until none is left.
 *
 * Any role that puts rows chooses the number of keys. So the range forgets keys that wait for a retry when it remembers
 * `mostParkedKeys`. Then each batch tells which of its keys have parked rows, and the forgotten keys are tried in turn.
 */
export class ParkedKeys {
  private readonly keys = new Map<string, ParkedKey>();
  private readonly bell: Bell;
  private rejected: OutboxRow[] = [];
  private puts = 0;
  private knowsAll = true;
  /** The next call of `load` reads the keys whose first row has a higher number. */
  private loadedToId = 0n;
  private loadsAgainAtMs = 0;
  private hasForgotten = false;
  private isStopping = false;
  private failure?: { error: unknown };

  constructor(
    private readonly table: ParkedTable,
    private readonly settings: RelaySettings,
    private readonly summary: RelaySummary,
    private readonly put: PutRows,
    /** Called after keys were loaded, and after each put of parked rows. */
    private readonly onChange: () => void,
  ) {
    this.bell = new Bell(settings.clock);
  }

  /** Whether no more keys can be parked, so that no more rows can be read. */
  get isFull(): boolean {
    return this.keys.size >= this.settings.mostParkedKeys;
  }

  /** Whether every key that has rows in the table is in memory. */
  get knowsAllKeys(): boolean {
    return this.knowsAll;
  }

  has(partitionKey: string): boolean {
    return this.keys.has(partitionKey);
  }

  /** Announces a row that is going to be parked. From now on its key is parked. */
  expect({ partitionKey }: OutboxRow): void {
    this.keyOf(partitionKey, { mayHaveRows: false }).pending += 1;
  }

  /** Parks announced rows. */
  async park(rows: readonly OutboxRow[]): Promise<void> {
    if (rows.length === 0) return;
    await this.table.park(rows);
    for (const row of rows) {
      const key = this.keys.get(row.partitionKey)!;
      key.pending -= 1;
      key.mayHaveRows = true;
      if (key.newFromId === undefined || row.id < key.newFromId) key.newFromId = row.id;
      row.read.hasEnded = true;
    }
    this.summary.parked += rows.length;
    this.bell.ring();
  }

  /**
   * Parks a row of the table `message` that was rejected. The row may be valid: the rows of an aggregate are rejected together,
   * and so are the rows behind them.
   */
  reject(row: OutboxRow): void {
    this.expect(row);
    const key = this.keys.get(row.partitionKey)!;
    key.hasRejection = true;
    key.isSuspect = true;
    // Nothing of the key is sent before the row is in the table.
    key.dueAtMs = Number.POSITIVE_INFINITY;
    this.rejected.push(row);
    this.bell.ring();
  }

  /** Adds a key that has parked rows in the table, unless it is there. */
  remember({ partitionKey, tries }: KeyWithParkedRows): void {
    if (this.keys.has(partitionKey)) return;
    const key = this.keyOf(partitionKey, { mayHaveRows: true });
    key.isSuspect = tries > 0;
    // The time of the last try is not known, and this worker may end before a long wait does. So each key begins with the shortest wait.
    if (tries > 0) key.dueAtMs = this.retryAt(1);
  }

  /**
   * Forgets keys that have all their rows in the table, if there is no room for others: rejected keys, or all if these are few.
   * If it is the turn of others, it forgets the keys that wait for a retry.
   *
   * @returns whether it forgot keys: then a batch must tell of each of its keys whether it has parked rows
   */
  forgetKeys(): boolean {
    const now = this.settings.clock.now();
    if (!this.isFull && (this.knowsAll || now < this.loadsAgainAtMs)) return false;
    const idle = [...this.keys.values()].filter((key) => isReady(key) && key.pending === 0);
    const rejected = idle.filter((key) => key.dueAtMs > now || (this.isFull && key.isSuspect));
    const areFew = this.isFull && rejected.length < this.settings.mostParkedKeys / 2;
    const forgotten = areFew ? idle : rejected;
    if (forgotten.length === 0) return false;
    for (const { partitionKey } of forgotten) this.keys.delete(partitionKey);
    this.hasForgotten = true;
    this.knowsAll = false;
    this.loadsAgainAtMs = now + LONGEST_RETRY_MS;
    this.bell.ring();
    return true;
  }

  /** Reads which keys have rows in the table, some at a time. The call after the last keys begins with the first ones again. */
  async load(): Promise<void> {
    const behindId = this.loadedToId;
    const atMost = Math.ceil(this.settings.mostParkedKeys / 2);
    this.hasForgotten = false;
    const found = await this.table.listKeys({ behindId, atMost });
    for (const key of found) this.remember(key);
    const hasReachedEnd = found.length < atMost;
    this.loadedToId = hasReachedEnd ? 0n : found.at(-1)!.firstId;
    this.knowsAll = hasReachedEnd && behindId === 0n && !this.hasForgotten;
    this.loadsAgainAtMs = this.knowsAll ? 0 : this.settings.clock.now() + LONGEST_RETRY_MS;
    this.onChange();
  }

  stop(): void {
    this.isStopping = true;
    this.bell.ring();
  }

  /** Sends parked rows, until it is stopped. */
  async run(): Promise<void> {
    for (;;) {
      if (this.failure !== undefined) throw this.failure.error;
      await this.parkRejected();
      if (this.isStopping && this.puts === 0 && this.rejected.length === 0) return;
      while (!this.knowsAll && this.keys.size < this.settings.mostParkedKeys / 2) await this.load();
      if (!this.isStopping) this.sendDue();
      await this.bell.sleep(this.untilNextIsDue());
    }
  }

  private async parkRejected(): Promise<void> {
    const parked = this.rejected.splice(0);
    await this.park(parked);
    // While these were parked, more rows of their keys may have been rejected.
    const open = new Set(this.rejected.map(({ partitionKey }) => partitionKey));
    for (const { partitionKey } of parked) {
      if (!open.has(partitionKey)) this.keys.get(partitionKey)!.dueAtMs = this.settings.clock.now();
    }
  }

  private sendDue(): void {
    const now = this.settings.clock.now();
    const due = [...this.keys.values()].filter((key) => isReady(key) && key.dueAtMs <= now);
    // Suspect keys have puts of their own, so that others need not wait for their retries.
    for (const areSuspect of [false, true]) {
      const keys = due.filter(({ isSuspect }) => isSuspect === areSuspect);
      while (keys.length > 0 && this.puts < MOST_PUTS) this.send(keys.splice(0, KEYS_OF_A_PUT), areSuspect);
    }
  }

  private send(keys: readonly ParkedKey[], areSuspect: boolean): void {
    this.puts += 1;
    for (const key of keys) key.isUnderWay = true;
    this.sendRows(keys, areSuspect)
      .catch((error) => {
        this.failure ??= { error };
      })
      .finally(() => {
        this.puts -= 1;
        for (const key of keys) key.isUnderWay = false;
        this.bell.ring();
      });
  }

  private async sendRows(keys: readonly ParkedKey[], areSuspect: boolean): Promise<void> {
    for (const key of keys) {
      // New rows may come before some that are gone: rows of another topic, or rows that were rejected late.
      if (key.newFromId !== undefined && key.newFromId <= key.afterId) key.afterId = key.newFromId - 1n;
      Object.assign(key, { mayHaveRows: false, newFromId: undefined, hasRejection: false });
    }
    const { rows, unreadKeys } = await this.table.read(keys, this.limitsFor(keys, areSuspect));
    const { delivered, rejected } = await this.putParked(rows);
    if (delivered.length > 0) await this.table.remove(delivered);
    this.passDelivered(rows, new Set(delivered));
    if (this.isStopping) return;
    for (const { partitionKey } of rows) this.moveBehindOthers(this.keys.get(partitionKey)!);
    for (const partitionKey of [...unreadKeys, ...rows.map((row) => row.partitionKey)]) {
      this.keys.get(partitionKey)!.mayHaveRows = true;
    }
    for (const key of keys) if (key.pending === 0 && !key.mayHaveRows) this.keys.delete(key.partitionKey);
    // The row that was to blame is gone.
    for (const { partitionKey, tries } of delivered) if (tries > 0) this.keys.get(partitionKey)!.isSuspect = false;
    if (areSuspect) await this.countTries(rejected);
    else for (const { row } of rejected) this.keys.get(row.partitionKey)!.isSuspect = true;
    this.onChange();
  }

  private limitsFor(keys: readonly ParkedKey[], areSuspect: boolean): Parameters<ParkedTable['read']>[1] {
    const { batchRows, batchBytes } = this.settings;
    return {
      maxRows: areSuspect ? 1 : Math.max(1, Math.floor(batchRows / keys.length)),
      maxBytes: Math.max(1, Math.floor(batchBytes / keys.length)),
      maxBytesOfAll: batchBytes,
    };
  }

  private async putParked(
    rows: readonly ParkedRow[],
  ): Promise<{ delivered: ParkedRow[]; rejected: RejectedParkedRow[] }> {
    const delivered: ParkedRow[] = [];
    const rejected: RejectedParkedRow[] = [];
    await this.put(rows, {
      // An earlier row of the key may have been rejected since the rows were read.
      mayGo: ({ partitionKey }) => !this.keys.get(partitionKey)!.hasRejection,
      delivered: (row) => delivered.push(row as ParkedRow),
      rejected: (row, error) => rejected.push({ row: row as ParkedRow, error }),
    });
    return { delivered, rejected };
  }

  /** Large rows can fill a put. Then the other keys come first in the next put. */
  private moveBehindOthers(key: ParkedKey): void {
    this.keys.delete(key.partitionKey);
    this.keys.set(key.partitionKey, key);
  }

  /** Passes what is gone, in each key up to the first row that is not: one stream may take a row behind one that another refuses. */
  private passDelivered(rows: readonly ParkedRow[], delivered: ReadonlySet<ParkedRow>): void {
    const waiting = new Set<string>();
    for (const row of rows) {
      if (!delivered.has(row)) waiting.add(row.partitionKey);
      else if (!waiting.has(row.partitionKey)) this.keys.get(row.partitionKey)!.afterId = row.id;
    }
  }

  private async countTries(rejected: readonly RejectedParkedRow[]): Promise<void> {
    const { maxTries = Number.POSITIVE_INFINITY } = this.settings;
    const counted = rejected.map(({ row, error }) => {
      const tries = row.tries + 1;
      return { row, error, tries, isGivenUp: tries >= maxTries };
    });
    const givenUp = counted.filter(({ isGivenUp }) => isGivenUp);
    const kept = counted.filter(({ isGivenUp }) => !isGivenUp);
    if (givenUp.length > 0) await this.table.giveUp(givenUp);
    if (kept.length > 0) await this.table.countTries(kept);
    this.summary.givenUp += givenUp.length;
    this.summary.rejections += counted.length;
    for (const { row, tries, isGivenUp, error } of counted) {
      const key = this.keys.get(row.partitionKey)!;
      if (isGivenUp) key.isSuspect = false;
      else key.dueAtMs = Math.max(key.dueAtMs, this.retryAt(tries));
      this.settings.onRejected(new OutboxRowError(row.id, row.partitionKey, tries, isGivenUp, { cause: error }));
    }
  }

  private retryAt(tries: number): number {
    return this.settings.clock.now() + Math.min(LONGEST_RETRY_MS, this.settings.retryMs * 2 ** (tries - 1));
  }

  private untilNextIsDue(): number {
    if (this.isStopping || this.puts >= MOST_PUTS) return Number.POSITIVE_INFINITY;
    const now = this.settings.clock.now();
    let next = Number.POSITIVE_INFINITY;
    for (const key of this.keys.values()) if (isReady(key)) next = Math.min(next, key.dueAtMs - now);
    return Math.max(0, next);
  }

  private keyOf(partitionKey: string, { mayHaveRows }: Pick<ParkedKey, 'mayHaveRows'>): ParkedKey {
    let key = this.keys.get(partitionKey);
    if (key === undefined) {
      key = {
        partitionKey,
        isSuspect: false,
        dueAtMs: this.settings.clock.now(),
        isUnderWay: false,
        pending: 0,
        mayHaveRows,
        afterId: 0n,
        hasRejection: false,
      };
      this.keys.set(partitionKey, key);
    }
    return key;
  }
}

/** Whether its rows can be read when it is due. A key whose rows are still to be parked would be read over and over. */
function isReady({ isUnderWay, mayHaveRows }: ParkedKey): boolean {
  return mayHaveRows && !isUnderWay;
}
