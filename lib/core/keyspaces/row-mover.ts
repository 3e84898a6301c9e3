import { CONSISTENCY_LEVELS, type CqlClient, type CqlRow, type StatementOptions } from './cql-client';
import { isRejection } from './cql-failure';
import { UnreadableRowError } from './keyspaces-errors';
import { hasInvalidDate, placeholdersOf } from './long-time';
import { selectRows } from './select-rows';
import { quoted } from './select-statement';
import type { ShardedKeyspacesConfig } from './sharded-keyspaces-config';
import { type StoredRow, StoredRows, whereKey } from './stored-rows';
import { type StrayRow, strayOf } from './stray-rows';

/**
 * The outcome of a move.
 *
 * - `moved`: the row is in the shard that writers use, and in no other shard.
 * - `settled`: there was nothing to move. The stray did not exist any longer, perhaps because of an earlier request
 *   whose response was lost. Or the shard that writers use had a newer row, and the stray was deleted.
 * - `refused`: the stray stays. Both rows were written during the move, and only the application can decide which row
 *   is right. Or the row, or a delete in the shard that writers use, has a timestamp ahead of the server's clock.
 */
export type StrayRowOutcome = 'moved' | 'settled' | 'refused';

/** The outcome of a move, and whether the move checked the write times of all values of the row. */
interface RowMove {
  outcome: StrayRowOutcome;
  isVerified: boolean;
}

/**
 * The maximum number of tries of a move. If a row changes more often, the cause is that its writers still use another
 * count.
 */
const MAX_TRIES = 10;

/** The time to live of the values that `writeTemporarily` writes, in seconds. The requests of a move take less time. */
const TEMPORARY_SECONDS = 60;

/** Source: the CQL binary protocol, section 3, [consistency]: LOCAL_SERIAL. */
const LOCAL_SERIAL = 0x9;

/**
 * Moves one stray with two conditional writes.
 *
 * A conditional write uses the server's timestamp. Even if it is applied, it does not replace a value or a delete with a later
 * timestamp. If the database returns write times, each move therefore checks the write times first, and checks the result of
 * each write.
 */
export class RowMover {
  private readonly key: readonly string[];
  private readonly table: string;
  private readonly stored: StoredRows;

  constructor(
    private readonly client: CqlClient,
    private readonly config: ShardedKeyspacesConfig,
    /** The columns that a move compares and copies in addition to the key. */
    private readonly columns: readonly string[],
  ) {
    const { keyspaceName, tableName, partitionKey, shardColumn, clusteringColumns } = config;
    this.key = [...partitionKey.map(({ name }) => name), shardColumn, ...clusteringColumns.map(({ name }) => name)];
    this.table = `${quoted(keyspaceName)}.${quoted(tableName)}`;
    this.stored = new StoredRows(client, this.table, this.key, columns);
  }

  /** @param again whether this is a retry, because the response to an earlier request was lost */
  async move({ row, shardOfWriters }: StrayRow, again: boolean): Promise<RowMove> {
    const isChecked = await this.stored.haveWriteTimes(row);
    let current: StoredRow | undefined =
      isChecked || again ? await this.readStray(row) : { row, writtenAt: new Map(), isAhead: false };
    for (let tries = 0; current !== undefined; tries++) {
      const isVerified = this.isVerified(current);
      if (tries === MAX_TRIES || current.isAhead) return { outcome: 'refused', isVerified };
      const outcome = await this.moveUnchanged(current, shardOfWriters, isChecked);
      if (outcome !== undefined) return { outcome, isVerified };
      // Another writer has changed or deleted the stray.
      current = await this.readStray(row);
    }
    return { outcome: 'settled', isVerified: true };
  }

  /**
   * Moves the stray in the state that was read. Returns undefined if the stray has changed or was deleted, and no copy
   * of it is left.
   */
  private async moveUnchanged(
    current: StoredRow,
    shardOfWriters: number,
    isChecked: boolean,
  ): Promise<StrayRowOutcome | undefined> {
    const { row } = current;
    this.rejectInvalidDates(row);
    const copy = { ...row, [this.config.shardColumn]: shardOfWriters };
    const isCopied = await this.insert(copy);
    // Check an existing row, too: it may be the copy of an interrupted move.
    if (isChecked && !(await this.isVisible(copy))) {
      return (await this.stored.read(row)) === undefined ? undefined : 'refused';
    }
    if (!(await this.deleteAsRead(row))) {
      // The stray has changed, so the copy is out of date.
      return isCopied && !(await this.deleteAsRead(copy)) ? 'refused' : undefined;
    }
    const remaining = isChecked ? await this.stored.read(row) : undefined;
    if (remaining === undefined) return isCopied ? 'moved' : 'settled';
    // Keep the copy if a part of the stray was deleted: only the copy still has that part.
    if (isCopied && this.isUntouched(current, remaining)) await this.deleteAsRead(copy);
    return 'refused';
  }

  /** Reads the stray again. Undefined if the row no longer exists or is no longer a stray. */
  private async readStray(row: CqlRow): Promise<StoredRow | undefined> {
    const current = await this.stored.read(row);
    return current && strayOf(this.config, current.row) && current;
  }

  /** Whether the row has values outside its key, and the database returned the write time of every value. */
  private isVerified({ row, writtenAt }: StoredRow): boolean {
    return writtenAt.size > 0 && this.columns.every((name) => isNull(row[name]) || writtenAt.has(name));
  }

  /** Whether the row still has every value that it had before the delete. */
  private isUntouched(before: StoredRow, { row, writtenAt }: StoredRow): boolean {
    return this.columns.every((name) => {
      if (isNull(before.row[name])) return isNull(row[name]);
      const times = before.writtenAt.get(name);
      return times !== undefined && String(times) === String(writtenAt.get(name));
    });
  }

  /**
   * Whether the place of the copy holds the complete copy or a newer row. A delete with a later timestamp can hide the whole
   * copy or some of its values. If such a delete hides only some values, this method deletes the copy.
   */
  private async isVisible(copy: CqlRow): Promise<boolean> {
    const found = await this.stored.read(copy);
    if (found === undefined) return false;
    const missing = this.missingValues(copy, found.row);
    if (missing.length === 0) return true;
    const partial = { ...copy, ...Object.fromEntries(missing.map((name) => [name, null])) };
    const isWritten = await this.writeTemporarily(partial, copy, missing);
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
   * Writes the missing values of a row, if its other values equal the values of the copy. The values are missing because a
   * delete hides them, or because a writer has set them to null. The new values become readable only in the second case. If
   * this process stops, the time to live removes the new values again.
   *
   * @returns false if the row differs from the copy, undefined if the table does not allow a time to live
   */
  private async writeTemporarily(
    partial: CqlRow,
    copy: CqlRow,
    missing: readonly string[],
  ): Promise<boolean | undefined> {
    try {
      return await this.update(partial, copy, missing, ` USING TTL ${TEMPORARY_SECONDS}`);
    } catch (error) {
      if (isRejection(error)) return undefined;
      throw error;
    }
  }

  private missingValues(copy: CqlRow, found: CqlRow): string[] {
    return this.columns.filter((name) => !isNull(copy[name]) && isNull(found[name]));
  }

  /**
   * Rejects a row if one of its collections contains a timestamp outside the range of `Date`, because the copy would
   * contain other times.
   */
  private rejectInvalidDates(row: CqlRow): void {
    const invalid = this.columns.find((name) => hasInvalidDate(row[name]));
    if (invalid !== undefined) {
      const column = { name: invalid, type: 'timestamp within the range of Date' };
      throw new UnreadableRowError(this.config, row[this.config.shardColumn], column);
    }
  }

  /** Inserts the row if no row has its key. Returns whether the row was inserted. */
  private insert(row: CqlRow): Promise<boolean> {
    const names = [...this.key, ...this.columns.filter((name) => !isNull(row[name]))];
    const { placeholders, parameters } = placeholdersOf(names.map((name) => row[name]));
    const query = `INSERT INTO ${this.table} (${names.map(quoted).join(', ')}) VALUES (${placeholders.join(', ')}) IF NOT EXISTS`;
    return this.isApplied(query, parameters);
  }

  /** Writes columns of a row if the row still equals `from`. Returns whether the database has written the columns. */
  private update(from: CqlRow, to: CqlRow, names: readonly string[], using = ''): Promise<boolean> {
    const set = equalities(names, to);
    const { where, parameters } = whereKey(this.key, from);
    const condition = equalities(this.columns, from);
    const query = `UPDATE ${this.table}${using} SET ${set.terms.join(', ')} WHERE ${where} IF ${condition.terms.join(' AND ')}`;
    return this.isApplied(query, [...set.parameters, ...parameters, ...condition.parameters]);
  }

  /** Deletes the row if it is unchanged. Returns whether the database has deleted the row. */
  private deleteAsRead(row: CqlRow): Promise<boolean> {
    // In Cassandra, a condition that all columns are null also holds for a row that does not exist.
    const compared = this.columns.some((name) => !isNull(row[name])) ? this.columns : [];
    const { where, parameters } = whereKey(this.key, row);
    const condition = equalities(compared, row);
    const query = `DELETE FROM ${this.table} WHERE ${where} IF ${condition.terms.join(' AND ') || 'EXISTS'}`;
    return this.isApplied(query, [...parameters, ...condition.parameters]);
  }

  /**
   * Executes a conditional write. Returns whether the database applied the write. If the response is lost, the database may
   * have applied the write anyway, so the next attempt or the next scan reads the row again.
   */
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

/** The term `column = value` for each of the columns. */
function equalities(names: readonly string[], row: CqlRow): { terms: string[]; parameters: unknown[] } {
  const { placeholders, parameters } = placeholdersOf(names.map((name) => row[name] ?? null));
  return { terms: names.map((name, index) => `${quoted(name)} = ${placeholders[index]}`), parameters };
}

function isNull(value: unknown): boolean {
  return value === null || value === undefined;
}
