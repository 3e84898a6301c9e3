import { CONSISTENCY_LEVELS, type CqlClient, type CqlRow, type StatementOptions } from './cql-client';
import { isRefusal } from './cql-failure';
import { UnreadableRowError } from './keyspaces-errors';
import { hasLostTime, placeholdersOf } from './long-time';
import { selectRows } from './select-rows';
import { quoted } from './select-statement';
import type { ShardedKeyspacesConfig } from './sharded-keyspaces-config';
import { type StoredRow, StoredRows, whereKey } from './stored-rows';
import { type StrayRow, strayOf } from './stray-rows';

/**
 * The result of a move.
 *
 * - `moved`: the row is in the shard of its writers, and in no other shard.
 * - `settled`: the stray was gone, perhaps by an earlier request whose response was lost. Or the shard of its writers had a
 * newer row, and the stray was deleted.
 * - `refused`: the stray stays. Both rows were written since the move began, and only their writers know which is right. Or a
 * client gave the row, or a delete in the shard of its writers, a timestamp that the server's clock has not reached.
 */
export type StrayRowOutcome = 'moved' | 'settled' | 'refused';

/** The result of a move, and whether it checked the write times of all values. */
export interface RowMove {
  outcome: StrayRowOutcome;
  isVerified: boolean;
}

/** If a row changes this often while it is moved, its writers still use another count. */
const MOST_TRIES = 10;

/** Longer than the requests of a move, which read what was written for a moment. */
const MOMENT_SECONDS = 60;

/** Source: the CQL binary protocol, section 3, [consistency]: LOCAL_SERIAL. */
const LOCAL_SERIAL = 0x9;

/**
 * Moves one stray by two conditional writes.
 *
 * A conditional write has the server's timestamp. It is applied, and still has no effect on a value or a delete with a later
 * timestamp. Where the database tells write times, each move therefore checks them first, and checks the result of each write.
 */
export class RowMover {
  private readonly key: readonly string[];
  private readonly table: string;
  private readonly stored: StoredRows;

  constructor(
    private readonly client: CqlClient,
    private readonly config: ShardedKeyspacesConfig,
    /** The columns that a move compares and copies, in addition to the key. */
    private readonly columns: readonly string[],
  ) {
    const { keyspaceName, tableName, partitionKey, shardColumn, clusteringColumns } = config;
    this.key = [...partitionKey.map(({ name }) => name), shardColumn, ...clusteringColumns.map(({ name }) => name)];
    this.table = `${quoted(keyspaceName)}.${quoted(tableName)}`;
    this.stored = new StoredRows(client, this.table, this.key, columns);
  }

  /** @param again whether this is another attempt, because the response to a request of the first attempt was lost */
  async move({ row, shardOfWriters }: StrayRow, again: boolean): Promise<RowMove> {
    const isChecked = await this.stored.haveWriteTimes(row);
    let seen: StoredRow | undefined =
      isChecked || again ? await this.strayNow(row) : { row, writtenAt: new Map(), isAhead: false };
    for (let tries = 0; seen !== undefined; tries++) {
      const isVerified = this.isVerified(seen);
      if (tries === MOST_TRIES || seen.isAhead) return { outcome: 'refused', isVerified };
      const outcome = await this.moveAsSeen(seen, shardOfWriters, isChecked);
      if (outcome !== undefined) return { outcome, isVerified };
      // The stray has changed, or its writer has deleted it.
      seen = await this.strayNow(row);
    }
    return { outcome: 'settled', isVerified: true };
  }

  /** Returns undefined if the stray has changed, or is gone, and no copy of it is left. */
  private async moveAsSeen(
    seen: StoredRow,
    shardOfWriters: number,
    isChecked: boolean,
  ): Promise<StrayRowOutcome | undefined> {
    const { row } = seen;
    this.refuseLostTimes(row);
    const copy = { ...row, [this.config.shardColumn]: shardOfWriters };
    const isCopied = await this.insert(copy);
    // Check a row that was there, too: it may be the copy of a move that did not end.
    if (isChecked && !(await this.isVisible(copy))) {
      return (await this.stored.read(row)) === undefined ? undefined : 'refused';
    }
    if (!(await this.deleteAsRead(row))) {
      // The copy is out of date, too.
      return isCopied && !(await this.deleteAsRead(copy)) ? 'refused' : undefined;
    }
    const left = isChecked ? await this.stored.read(row) : undefined;
    if (left === undefined) return isCopied ? 'moved' : 'settled';
    // If a part of the stray is gone, only the copy has it.
    if (isCopied && this.isUntouched(seen, left)) await this.deleteAsRead(copy);
    return 'refused';
  }

  /** The stray as it is now; undefined if the row is no longer a stray. */
  private async strayNow(row: CqlRow): Promise<StoredRow | undefined> {
    const seen = await this.stored.read(row);
    return seen && strayOf(this.config, seen.row) && seen;
  }

  /** Whether the row has a value outside its key, and the database returned the write time of each. */
  private isVerified({ row, writtenAt }: StoredRow): boolean {
    return writtenAt.size > 0 && this.columns.every((name) => isNull(row[name]) || writtenAt.has(name));
  }

  /** Whether a delete has left each value of the row as it was. */
  private isUntouched(before: StoredRow, { row, writtenAt }: StoredRow): boolean {
    return this.columns.every((name) => {
      if (isNull(before.row[name])) return isNull(row[name]);
      const times = before.writtenAt.get(name);
      return times !== undefined && String(times) === String(writtenAt.get(name));
    });
  }

  /**
   * Whether the row at the place of the copy is the copy with all its values, or a newer row. A delete with a later timestamp
   * hides the row, or a value of it. If it hides a value only, the copy is deleted.
   */
  private async isVisible(copy: CqlRow): Promise<boolean> {
    const found = await this.stored.read(copy);
    if (found === undefined) return false;
    const missing = this.missingValues(copy, found.row);
    if (missing.length === 0) return true;
    const partial = { ...copy, ...Object.fromEntries(missing.map((name) => [name, null])) };
    const isWritten = await this.writeForAMoment(partial, copy, missing);
    if (isWritten !== true) return isWritten === false;
    const now = await this.stored.read(copy);
    if (now === undefined) return false;
    if (this.missingValues(copy, now.row).length > 0) {
      await this.deleteAsRead(partial);
      return false;
    }
    await this.update(copy, partial, missing);
    return true;
  }

  /**
   * Writes values that a row lacks, if its other values equal those of the copy. A delete hides the values, or a writer has set
   * them to null. In the second case they become readable. The time to live makes them null again if this process stops.
   *
   * @returns false if the row differs from the copy; undefined if the table does not allow a time to live
   */
  private async writeForAMoment(
    partial: CqlRow,
    copy: CqlRow,
    missing: readonly string[],
  ): Promise<boolean | undefined> {
    try {
      return await this.update(partial, copy, missing, ` USING TTL ${MOMENT_SECONDS}`);
    } catch (error) {
      if (isRefusal(error)) return undefined;
      throw error;
    }
  }

  private missingValues(copy: CqlRow, found: CqlRow): string[] {
    return this.columns.filter((name) => !isNull(copy[name]) && isNull(found[name]));
  }

  /** Refuses a row with a collection that holds such times, because the copy would have other times. */
  private refuseLostTimes(row: CqlRow): void {
    const lost = this.columns.find((name) => hasLostTime(row[name]));
    if (lost !== undefined) {
      const column = { name: lost, type: 'timestamp that a Date holds' };
      throw new UnreadableRowError(this.config, row[this.config.shardColumn], column);
    }
  }

  /** Inserts the row, and returns whether there was no row with its key. */
  private insert(row: CqlRow): Promise<boolean> {
    const names = [...this.key, ...this.columns.filter((name) => !isNull(row[name]))];
    const { placeholders, parameters } = placeholdersOf(names.map((name) => row[name]));
    const query = `INSERT INTO ${this.table} (${names.map(quoted).join(', ')}) VALUES (${placeholders.join(', ')}) IF NOT EXISTS`;
    return this.isApplied(query, parameters);
  }

  /** Writes columns of a row if the row is still as in `from`, and returns whether it was. */
  private update(from: CqlRow, to: CqlRow, names: readonly string[], using = ''): Promise<boolean> {
    const set = equalities(names, to);
    const { where, parameters } = whereKey(this.key, from);
    const condition = equalities(this.columns, from);
    const query = `UPDATE ${this.table}${using} SET ${set.terms.join(', ')} WHERE ${where} IF ${condition.terms.join(' AND ')}`;
    return this.isApplied(query, [...set.parameters, ...parameters, ...condition.parameters]);
  }

  /** Deletes the row if it is still as it was read, and returns whether it was. */
  private deleteAsRead(row: CqlRow): Promise<boolean> {
    // For Cassandra, a row that does not exist equals a row whose columns are all null.
    const compared = this.columns.some((name) => !isNull(row[name])) ? this.columns : [];
    const { where, parameters } = whereKey(this.key, row);
    const condition = equalities(compared, row);
    const query = `DELETE FROM ${this.table} WHERE ${where} IF ${condition.terms.join(' AND ') || 'EXISTS'}`;
    return this.isApplied(query, [...parameters, ...condition.parameters]);
  }

  /** The database may have applied a statement whose response was lost. The next attempt or the next scan reads the row again. */
  private async isApplied(query: string, parameters: unknown[]): Promise<boolean> {
    const options: StatementOptions = {
      prepare: true,
      consistency: CONSISTENCY_LEVELS.LOCAL_QUORUM,
      serialConsistency: LOCAL_SERIAL,
      isIdempotent: false,
    };
    const { rows } = await selectRows(this.client, { query, parameters }, options);
    return Object(rows[0])['[applied]'] === true;
  }
}

/** `column = value` for each of the columns. */
function equalities(names: readonly string[], row: CqlRow): { terms: string[]; parameters: unknown[] } {
  const { placeholders, parameters } = placeholdersOf(names.map((name) => row[name] ?? null));
  return { terms: names.map((name, index) => `${quoted(name)} = ${placeholders[index]}`), parameters };
}

function isNull(value: unknown): boolean {
  return value === null || value === undefined;
}
