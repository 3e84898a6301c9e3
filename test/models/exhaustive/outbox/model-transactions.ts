/** A row of the table `message`, or of `parked` and `rejected`, which have some more columns. */
export interface ModelRow {
  readonly id: number;
  readonly xid: number;
  readonly slot: number;
  readonly bucket: number;
  readonly key: string;
  readonly data: string;
  readonly topic?: string;
  tries: number;
}

/** What a transaction has written since it began, or since a savepoint. */
interface Level {
  /** Absent as long as nothing was written. */
  xid?: number;
  /** The ids of savepoints that were released into it. They end with it. */
  released: number[];
  rows: ModelRow[];
}

/** A transaction in progress, prepared ones among them. The first level is its own, the others are its savepoints'. */
export interface ModelTransaction {
  readonly levels: [Level, ...Level[]];
}

/**
 * Which ids Postgres gives to transactions, and what a snapshot says of them:
 *
 * - A transaction gets its id when it first writes, and a savepoint one of its own, which is above its parent's.
 * - `xmax` is one past the latest id that has *completed*. An id that is running can be at or above it, and is not listed then.
 * - A savepoint that is rolled back completes at once. One that is released completes with its transaction.
 * - `xip` lists no ids of savepoints.
 */
export class ModelTransactions {
  /** Grows with each transaction that gets an id or ends. */
  writes = 0;
  private readonly open = new Set<ModelTransaction>();
  private latestCompletedXid: number;

  constructor(private nextXid: number) {
    this.latestCompletedXid = nextXid - 1;
  }

  /** All that any answer depends on. */
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

  /** A statement that writes. @returns the id of the transaction */
  write({ levels }: ModelTransaction): number {
    for (const each of levels) each.xid ??= this.give();
    return levels[0].xid!;
  }

  /** What `pg_current_xact_id()` gives: no id to a savepoint. */
  idOf({ levels }: ModelTransaction): number {
    levels[0].xid ??= this.give();
    return levels[0].xid;
  }

  /** One statement that is a transaction of its own. */
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

  /** Back to the last savepoint, which stays. */
  rollBack({ levels }: ModelTransaction): void {
    this.complete(levels.pop()!);
    levels.push(level());
  }

  /** @returns the rows that it has committed */
  end(transaction: ModelTransaction, ends: 'commit' | 'rollback'): ModelRow[] {
    const { levels } = transaction;
    while (levels.length > 1) this.release(transaction);
    this.complete(levels[0]);
    this.open.delete(transaction);
    return ends === 'commit' ? levels[0].rows : [];
  }

  /** Whether another transaction in progress has rows of the key, for which a put would wait. */
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
