import { CONSISTENCY_LEVELS, type CqlClient, type CqlRow, type StatementOptions } from './cql-client';
import { UnreadableRowError } from './keyspaces-errors';
import { hasLostTime, placesOf } from './long-time';
import { selectRows } from './select-rows';
import { quoted } from './select-statement';
import type { ShardedKeyspacesConfig } from './sharded-keyspaces-config';
import { type StoredRow, StoredRows, whereKey } from './stored-rows';
import { type StrayRow, strayOf } from './stray-rows';

/**
 * What a call did with a stray.
 *
 * - `moved`: the row is in the shard of its writers, and there alone.
 * - `settled`: it was gone, or a newer row was in the shard of its writers, and the stray was deleted; or an answer about its move was
 * lost, and another look has found it gone.
 * - `refused`: both rows have been written since the move began, so nobody but their writers knows which is right; or the row, or a
 * delete in the shard of its writers, has a timestamp that the server's clock has not reached. The stray stays.
 */
export type StrayRowOutcome = 'moved' | 'settled' | 'refused';

/** What a move did, and whether the write times of all values were checked. */
export interface RowMove {
  outcome: StrayRowOutcome;
  isVerified: boolean;
}

/** If a row changes this often while it is moved, its writers still use another count. */
const MOST_TRIES = 10;

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

  /** @param again whether an answer about an earlier move was lost, so that nobody knows what became of the row */
  async move({ row, shardOfWriters }: StrayRow, again: boolean): Promise<RowMove> {
    const isChecked = await this.stored.haveWriteTimes(row);
    let seen: StoredRow | undefined =
      isChecked || again ? await this.strayNow(row) : { row, writtenAt: new Map(), isAhead: false };
    for (let tries = 0; seen !== undefined; tries++) {
      const isVerified = this.isVerified(seen);
      if (tries === MOST_TRIES || seen.isAhead) return { outcome: 'refused', isVerified };
      const outcome = await this.moveAsSeen(seen, shardOfWriters, isChecked, again);
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
    again: boolean,
  ): Promise<StrayRowOutcome | undefined> {
    const { row } = seen;
    this.refuseLostTimes(row);
    const copy = { ...row, [this.config.shardColumn]: shardOfWriters };
    const isCopied = await this.insert(copy);
    // An earlier attempt may have made the copy.
    if (isChecked && (isCopied || again) && !(await this.isVisible(copy))) {
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

  /** Whether the database told the write time of each value of the row, of at least one. */
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
   * Whether the copy that was inserted shows each of its values. A delete with a later timestamp hides the row, or a value of
   * it. If it hides a value only, the copy is deleted.
   */
  private async isVisible(copy: CqlRow): Promise<boolean> {
    const found = await this.stored.read(copy);
    const missing = this.missingValues(copy, found?.row);
    if (found === undefined || missing.length === 0) return found !== undefined;
    // A writer may have set the values to null meanwhile. A second write shows them then, but not where a delete hides them.
    const isWritten = await this.update(copy, missing, { from: {}, to: copy });
    const again = await this.stored.read(copy);
    if (again === undefined) return false;
    if (!isWritten) return true;
    if (this.missingValues(copy, again.row).length > 0) {
      await this.deleteAsRead({ ...copy, ...Object.fromEntries(missing.map((name) => [name, null])) });
      return false;
    }
    await this.update(copy, missing, { from: copy, to: {} });
    return true;
  }

  private missingValues(copy: CqlRow, found: CqlRow = copy): string[] {
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
    const { places, parameters } = placesOf(names.map((name) => row[name]));
    const query = `INSERT INTO ${this.table} (${names.map(quoted).join(', ')}) VALUES (${places.join(', ')}) IF NOT EXISTS`;
    return this.isApplied(query, parameters);
  }

  /** Writes columns of a row if they are as in `from`, and returns whether they were. */
  private update(row: CqlRow, names: readonly string[], { from, to }: { from: CqlRow; to: CqlRow }): Promise<boolean> {
    const set = equalities(names, to);
    const { where, parameters } = whereKey(this.key, row);
    const condition = equalities(names, from);
    const query = `UPDATE ${this.table} SET ${set.terms.join(', ')} WHERE ${where} IF ${condition.terms.join(' AND ')}`;
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

  /** A statement whose answer was lost may have been applied. The next move or the next scan then deals with what it finds. */
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
  const { places, parameters } = placesOf(names.map((name) => row[name] ?? null));
  return { terms: names.map((name, index) => `${quoted(name)} = ${places[index]}`), parameters };
}

function isNull(value: unknown): boolean {
  return value === null || value === undefined;
}
