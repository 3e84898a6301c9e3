/** A row of the table `message`, or of `parked` and `rejected`, which have some more columns. */
export interface ModelRow {
  readonly id: number;
  readonly xid: number;
  readonly slot: number;
  readonly bucket: number;
  readonly key: string;
  readonly data: string;
  tries: number;
}

/** The writes of a transaction since its start or since a savepoint. */
interface Level {
  /** The id of the transaction or the savepoint. Absent until the first write. */
  xid?: number;
  /** The ids of released savepoints. These savepoints end with this level. */
  released: number[];
  rows: ModelRow[];
}

/** A transaction that is in progress or prepared. The first level is the transaction, and the other levels are its savepoints. */
export interface ModelTransaction {
  readonly levels: [Level, ...Level[]];
}

/**
 * Models the transaction ids and snapshots of Postgres:
 *
 * - A transaction gets its id with its first write. A savepoint gets its own, higher id with its first write.
 * - `xmax` is the highest *completed* id plus one. The id of a running transaction can be at or above `xmax`, and `xip`
 *   then does
 *   not list the id.
 * - A rolled back savepoint completes immediately. A released savepoint completes with its transaction.
 * - `xip` does not list the ids of savepoints.
 */
export class ModelTransactions {
  /** Increases when a transaction gets an id or ends. */
  writes = 0;
  private readonly open = new Set<ModelTransaction>();
  private latestCompletedXid: number;

  constructor(private nextXid: number) {
    this.latestCompletedXid = nextXid - 1;
  }

  /** The state on which responses depend. */
  get state(): unknown {
    return [[...this.open], this.nextXid, this.latestCompletedXid];
  }

  /** The rows of the transactions in progress. */
  get rows(): ModelRow[] {
    return [...this.open].flatMap(rowsOf);
  }

  /** The text of `pg_current_snapshot()`. */
  get snapshot(): string {
    const xmax = this.latestCompletedXid + 1;
    const running = [...this.open].flatMap(({ levels }) => levels[0].xid ?? []);
    const xip = running.filter((xid) => xid < xmax).sort((a, b) => a - b);
    return `${xip[0] ?? xmax}:${xmax}:${xip.join()}`;
  }

  begin(): ModelTransaction {
    const transaction: ModelTransaction = { levels: [level()] };
    this.open.add(transaction);
    return transaction;
  }

  /** Runs a statement that writes. @returns the id of the transaction */
  write({ levels }: ModelTransaction): number {
    for (const each of levels) each.xid ??= this.give();
    return levels[0].xid!;
  }

  /** The result of `pg_current_xact_id()`, which gives no id to a savepoint. */
  idOf({ levels }: ModelTransaction): number {
    levels[0].xid ??= this.give();
    return levels[0].xid;
  }

  /** Runs one statement as a transaction of its own. */
  writeAlone(): void {
    const transaction = this.begin();
    this.write(transaction);
    this.end(transaction, 'commit');
  }

  savepoint({ levels }: ModelTransaction): void {
    levels.push(level());
  }

  release({ levels }: ModelTransaction): void {
    const { xid, released, rows } = levels.pop()!;
    const parent = levels.at(-1)!;
    parent.released.push(...(xid === undefined ? [] : [xid]), ...released);
    parent.rows.push(...rows);
  }

  /** Rolls back to the latest savepoint. The savepoint still exists afterwards. */
  rollBack({ levels }: ModelTransaction): void {
    this.complete(levels.pop()!);
    levels.push(level());
  }

  /** @returns the committed rows of the transaction */
  end(transaction: ModelTransaction, ends: 'commit' | 'rollback'): ModelRow[] {
    const { levels } = transaction;
    while (levels.length > 1) this.release(transaction);
    this.complete(levels[0]);
    this.open.delete(transaction);
    return ends === 'commit' ? levels[0].rows : [];
  }

  /** Whether a put of the key waits, because another transaction in progress has rows of the key. */
  isLocked(key: string, transaction: ModelTransaction | undefined): boolean {
    return [...this.open].some((other) => other !== transaction && rowsOf(other).some((row) => row.key === key));
  }

  private give(): number {
    this.writes += 1;
    return this.nextXid++;
  }

  private complete({ xid, released }: Level): void {
    if (xid === undefined) return;
    this.latestCompletedXid = Math.max(this.latestCompletedXid, xid, ...released);
    this.writes += 1;
  }
}

function rowsOf({ levels }: ModelTransaction): ModelRow[] {
  return levels.flatMap(({ rows }) => rows);
}

function level(): Level {
  return { released: [], rows: [] };
}
