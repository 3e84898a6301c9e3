import { OutboxRowError } from './outbox-errors';
import type { OutboxRow, ParkedRow } from './outbox-row';
import type { KeyWithParkedRows, ParkedTable, RejectedRow } from './parked-table';
import type { RelaySettings } from './relay-options';
import type { RelaySummary } from './relay-summary';
import { WakeSignal } from './wake-signal';

/** A parked key. Its rows are in the table `parked`, not in memory. */
interface ParkedKey {
  readonly partitionKey: string;
  /** Whether a row of the key was rejected, perhaps together with valid rows. The rows of such a key are tried one by one. */
  isSuspect: boolean;
  dueAtMs: number;
  isInFlight: boolean;
  /** How many announced rows of the key are not written to the table yet. */
  pending: number;
  /** Whether the table may have unread rows of the key. It is false until the first row is parked. */
  mayHaveRows: boolean;
  /**
   * The lowest number of the rows that this worker has parked since it last read rows of the key. Undefined if there are no such
   * rows.
   */
  newFromId?: bigint;
  /**
   * The table contains no more rows up to this number, except rows from `newFromId` on. Reads begin after this number, to
   * skip deleted rows that Postgres has not vacuumed yet.
   */
  afterId: bigint;
  /**
   * Whether a row of the key was rejected since this worker last read rows of the key, and is not in the table yet. Later rows
   * that were already read must not be sent before the rejected row.
   */
  hasRejection: boolean;
}

interface RejectedParkedRow extends RejectedRow {
  readonly row: ParkedRow;
}

/** Puts rows, and reports the result of each row. */
export type PutRows = (
  rows: readonly OutboxRow[],
  ends: {
    /** Whether the row may be sent. Called just before the producer gets the row. */
    maySend(row: OutboxRow): boolean;
    delivered(row: OutboxRow): void;
    rejected(row: OutboxRow, error: Error): void;
  },
) => Promise<void>;

const MAX_PUTS = 4;

/** The maximum number of keys whose rows are sent in one put. */
const KEYS_OF_A_PUT = 32;

const LONGEST_RETRY_MS = 60_000;

/**
 * The parked keys of a range. A key is parked if one of its rows was rejected, or if its backlog would block other keys. The
 * relay copies the rows of a parked key to the table `parked`, and sends the rows from this table in order, until the table has
 * no more rows of the key.
 *
 * Writers decide how many keys there are, so the memory for keys must be limited. When `mostParkedKeys` keys are in memory, the
 * relay forgets keys that wait for a retry. Each batch then shows which of its keys have parked rows, and the forgotten keys
 * are loaded and tried one group after the other.
 */
export class ParkedKeys {
  private readonly keys = new Map<string, ParkedKey>();
  private readonly wakeSignal: WakeSignal;
  private rejected: OutboxRow[] = [];
  private puts = 0;
  private hasLoadedAll = true;
  /** The next call of `load` reads keys whose first row has a higher number than this number. */
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
    this.wakeSignal = new WakeSignal(settings.clock);
  }

  /** Whether no more keys can be parked, so that no new rows can be read. */
  get isFull(): boolean {
    return this.keys.size >= this.settings.mostParkedKeys;
  }

  /** Whether all keys with rows in the table are in memory. */
  get hasAllKeys(): boolean {
    return this.hasLoadedAll;
  }

  has(partitionKey: string): boolean {
    return this.keys.has(partitionKey);
  }

  /** Announces a row that will be parked. Its key counts as parked from this call on. */
  announce({ partitionKey }: OutboxRow): void {
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
    this.wakeSignal.notify();
  }

  /**
   * Parks a rejected row of the table `message`. The row may be valid, because all rows of an aggregate are rejected together,
   * with the later rows of their keys.
   */
  reject(row: OutboxRow): void {
    this.announce(row);
    const key = this.keys.get(row.partitionKey)!;
    key.hasRejection = true;
    key.isSuspect = true;
    // No row of the key is sent before this row is in the table.
    key.dueAtMs = Number.POSITIVE_INFINITY;
    this.rejected.push(row);
    this.wakeSignal.notify();
  }

  /** Adds a key that has rows in the table, unless the key is already in memory. */
  remember({ partitionKey, tries }: KeyWithParkedRows): void {
    if (this.keys.has(partitionKey)) return;
    const key = this.keyOf(partitionKey, { mayHaveRows: true });
    key.isSuspect = tries > 0;
    // The time of the latest try is not known, and this worker may stop before the end of a long wait. So use the shortest wait.
    if (tries > 0) key.dueAtMs = this.retryAt(1);
  }

  /**
   * Removes keys from memory if all their rows are in the table. When it is time to load other keys, it removes the keys that
   * wait for a retry. If memory is full, it also removes the keys with rejected rows. If these keys are fewer than half of
   * `mostParkedKeys`, it removes all keys whose rows are in the table.
   *
   * @returns whether it removed keys. Each batch must then show which of its keys have parked rows
   */
  forgetKeys(): boolean {
    const now = this.settings.clock.now();
    if (!this.isFull && (this.hasLoadedAll || now < this.loadsAgainAtMs)) return false;
    const idle = [...this.keys.values()].filter((key) => isReady(key) && key.pending === 0);
    const rejected = idle.filter((key) => key.dueAtMs > now || (this.isFull && key.isSuspect));
    const areFew = this.isFull && rejected.length < this.settings.mostParkedKeys / 2;
    const forgotten = areFew ? idle : rejected;
    if (forgotten.length === 0) return false;
    for (const { partitionKey } of forgotten) this.keys.delete(partitionKey);
    this.hasForgotten = true;
    this.hasLoadedAll = false;
    this.loadsAgainAtMs = now + LONGEST_RETRY_MS;
    this.wakeSignal.notify();
    return true;
  }

  /** Loads a group of keys with rows in the table. After the last group, the next call begins with the first group again. */
  async load(): Promise<void> {
    const afterId = this.loadedToId;
    const atMost = Math.ceil(this.settings.mostParkedKeys / 2);
    this.hasForgotten = false;
    const found = await this.table.listKeys({ afterId, atMost });
    for (const key of found) this.remember(key);
    const hasReachedEnd = found.length < atMost;
    this.loadedToId = hasReachedEnd ? 0n : found.at(-1)!.firstId;
    this.hasLoadedAll = hasReachedEnd && afterId === 0n && !this.hasForgotten;
    this.loadsAgainAtMs = this.hasLoadedAll ? 0 : this.settings.clock.now() + LONGEST_RETRY_MS;
    this.onChange();
  }

  stop(): void {
    this.isStopping = true;
    this.wakeSignal.notify();
  }

  /** Sends parked rows, until `stop` is called. */
  async run(): Promise<void> {
    for (;;) {
      if (this.failure !== undefined) throw this.failure.error;
      await this.parkRejected();
      if (this.isStopping && this.puts === 0 && this.rejected.length === 0) return;
      while (!this.hasLoadedAll && this.keys.size < this.settings.mostParkedKeys / 2) await this.load();
      if (!this.isStopping) this.sendDue();
      await this.wakeSignal.sleep(this.untilNextIsDue());
    }
  }

  private async parkRejected(): Promise<void> {
    const parked = this.rejected.splice(0);
    await this.park(parked);
    // During the write, more rows of these keys may have been rejected.
    const open = new Set(this.rejected.map(({ partitionKey }) => partitionKey));
    for (const { partitionKey } of parked) {
      if (!open.has(partitionKey)) this.keys.get(partitionKey)!.dueAtMs = this.settings.clock.now();
    }
  }

  private sendDue(): void {
    const now = this.settings.clock.now();
    const due = [...this.keys.values()].filter((key) => isReady(key) && key.dueAtMs <= now);
    // Suspect keys have separate puts, so that other keys do not wait for the retries of suspect keys.
    for (const areSuspect of [false, true]) {
      const keys = due.filter(({ isSuspect }) => isSuspect === areSuspect);
      while (keys.length > 0 && this.puts < MAX_PUTS) this.send(keys.splice(0, KEYS_OF_A_PUT), areSuspect);
    }
  }

  private send(keys: readonly ParkedKey[], areSuspect: boolean): void {
    this.puts += 1;
    for (const key of keys) key.isInFlight = true;
    this.sendRows(keys, areSuspect)
      .catch((error) => {
        this.failure ??= { error };
      })
      .finally(() => {
        this.puts -= 1;
        for (const key of keys) key.isInFlight = false;
        this.wakeSignal.notify();
      });
  }

  private async sendRows(keys: readonly ParkedKey[], areSuspect: boolean): Promise<void> {
    for (const key of keys) {
      // Rows that are new in the table can have lower numbers than deleted rows, because they have another topic or were rejected
      // late.
      if (key.newFromId !== undefined && key.newFromId <= key.afterId) key.afterId = key.newFromId - 1n;
      Object.assign(key, { mayHaveRows: false, newFromId: undefined, hasRejection: false });
    }
    const { rows, unreadKeys } = await this.table.read(keys, this.limitsFor(keys, areSuspect));
    const { delivered, rejected } = await this.putParked(rows);
    if (delivered.length > 0) await this.table.remove(delivered);
    this.skipDelivered(rows, new Set(delivered));
    if (this.isStopping) return;
    for (const { partitionKey } of rows) this.moveToEnd(this.keys.get(partitionKey)!);
    for (const partitionKey of [...unreadKeys, ...rows.map((row) => row.partitionKey)]) {
      this.keys.get(partitionKey)!.mayHaveRows = true;
    }
    for (const key of keys) if (key.pending === 0 && !key.mayHaveRows) this.keys.delete(key.partitionKey);
    // If a row that was rejected before is delivered, its key is no longer suspect.
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
      maySend: ({ partitionKey }) => !this.keys.get(partitionKey)!.hasRejection,
      delivered: (row) => delivered.push(row as ParkedRow),
      rejected: (row, error) => rejected.push({ row: row as ParkedRow, error }),
    });
    return { delivered, rejected };
  }

  /** Large rows of one key can fill a put, so the other keys must come first in the next put. */
  private moveToEnd(key: ParkedKey): void {
    this.keys.delete(key.partitionKey);
    this.keys.set(key.partitionKey, key);
  }

  /**
   * Sets `afterId` of each key: all of the read rows up to this number were delivered. If rows of a key have different topics, a
   * later row can be delivered before an earlier row. `afterId` then stays below the earlier row.
   */
  private skipDelivered(rows: readonly ParkedRow[], delivered: ReadonlySet<ParkedRow>): void {
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
    if (this.isStopping || this.puts >= MAX_PUTS) return Number.POSITIVE_INFINITY;
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
        isInFlight: false,
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

/**
 * Whether the rows of a key can be read when the key is due. A key without rows in the table is not ready. Otherwise the relay
 * would read the key in a loop.
 */
function isReady({ isInFlight, mayHaveRows }: ParkedKey): boolean {
  return mayHaveRows && !isInFlight;
}
