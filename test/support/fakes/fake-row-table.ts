import type { CqlClient, CqlRow, ShardedKeyspacesConfig, StatementOptions, StatementResult } from '../../../lib/core';
import { textOf } from './fake-cassandra';

/** The number of rows in a page of a scan. */
const PAGE_ROWS = 10;

/** A row as Cassandra stores it. Each cell has the time of its write, in microseconds. */
interface Stored {
  key: CqlRow;
  insertedAt: number;
  deletedAt: number;
  cells: Map<string, { value: unknown; at: number; until?: number }>;
}

/**
 * A whole Cassandra table in memory with the interface of the driver. It accepts the statements that scan and move
 * rows: a SELECT of the table or of all tokens, a SELECT of one row with its write times, and conditional writes.
 */
export class FakeRowTable implements CqlClient {
  readonly sent: string[] = [];
  /**
   * These functions are called before and after each statement. If one of them throws an error, the statement fails with this
   * error.
   */
  before: (query: string) => void = () => {};
  after: (query: string) => void = () => {};
  partitioner = 'org.apache.cassandra.dht.Murmur3Partitioner';
  /** Whether the table stores the write times of a column. */
  hasWriteTime: (column: string) => boolean = () => true;
  /** The clock of the server in microseconds since 1970. Each statement takes one millisecond. */
  now = 1_600_000_000_000_000;
  private readonly rows = new Map<string, Stored>();
  private readonly key: readonly string[];

  constructor({ partitionKey, shardColumn, clusteringColumns }: ShardedKeyspacesConfig) {
    const names = (columns: readonly { name: string }[]) => columns.map(({ name }) => name);
    this.key = [...names(partitionKey), shardColumn, ...names(clusteringColumns)];
  }

  insert(row: CqlRow, at = this.tick()): void {
    const stored = this.storedOf(row);
    stored.insertedAt = Math.max(stored.insertedAt, at);
    this.update(row, at);
  }

  /** @param until the time at which the values expire */
  update(row: CqlRow, at = this.tick(), until?: number): void {
    const { cells } = this.storedOf(row);
    for (const [name, value] of Object.entries(row)) {
      if (value === undefined || this.key.includes(name) || at < (cells.get(name)?.at ?? 0)) continue;
      cells.set(name, { value, at, until });
    }
  }

  delete(row: CqlRow, at = this.tick()): void {
    const stored = this.storedOf(row);
    stored.deletedAt = Math.max(stored.deletedAt, at);
  }

  get all(): CqlRow[] {
    return [...this.rows.values()].flatMap((stored) => this.shownOf(stored) ?? []);
  }

  async execute(query: string, parameters: unknown[], options: StatementOptions): Promise<StatementResult> {
    this.sent.push(query);
    this.before(query);
    const result = this.answer(query, [...parameters], options);
    this.after(query);
    return result;
  }

  private answer(query: string, parameters: unknown[], { pageState }: StatementOptions): StatementResult {
    if (query === 'SELECT partitioner FROM system.local') return { rows: [{ partitioner: this.partitioner }] };
    if (query.startsWith('INSERT')) {
      const columns = /\((.+?)\) VALUES/
        .exec(query)![1]!
        .split(', ')
        .map((name) => name.slice(1, -1));
      const row = Object.fromEntries(columns.map((name, index) => [name, parameters[index]]));
      return this.applied(this.shown(row) === undefined, () => this.insert(row));
    }
    const [, set = '', where, condition] = /^(?:UPDATE .+ SET (.+) |.+ )WHERE (.+?)(?: IF (.+))?$/.exec(query)!;
    const changes = given(set, parameters);
    const key = given(where!, parameters);
    if (condition !== undefined) {
      const found = this.shown(key);
      // As in Cassandra, a condition sees null in every column of a deleted row.
      const isSame = Object.entries(given(condition, parameters)).every(
        ([name, value]) => textOf(found?.[name] ?? null) === textOf(value ?? null),
      );
      const holds = condition === 'EXISTS' ? found !== undefined : isSame;
      const seconds = / USING TTL (\d+) /.exec(query)?.[1];
      const until = seconds === undefined ? undefined : this.now + Number(seconds) * 1_000_000;
      const write = () => (set === '' ? this.delete(key) : this.update({ ...key, ...changes }, undefined, until));
      return this.applied(holds, write);
    }
    const columns = /^SELECT (.+) FROM/.exec(query)![1]!.split(', ');
    const unknown = columns.find((text) => text.startsWith('WRITETIME') && !this.hasWriteTime(nameIn(text)));
    if (unknown !== undefined) throw invalid(`no write time: ${unknown}`);
    this.tick();
    const selected = (stored: Stored) => Object.fromEntries(columns.map((text) => this.selected(text, stored)));
    if (Object.keys(key).length > 0) return { rows: this.shown(key) ? [selected(this.storedOf(key))] : [] };
    // Rows have a fixed order, like the order of tokens. An insert or a delete does not change the order of other rows.
    const inOrder = [...this.rows]
      .filter(([name, stored]) => this.shownOf(stored) !== undefined && (!pageState || name > pageState))
      .sort(([a], [b]) => (a < b ? -1 : 1));
    const page = inOrder.slice(0, PAGE_ROWS);
    const rows = page.map(([, stored]) => selected(stored));
    return { rows, pageState: inOrder.length > PAGE_ROWS ? page.at(-1)![0] : null };
  }

  /** One result column of a SELECT: a column, its write time, or the clock of the server. */
  private selected(text: string, stored: Stored): [string, unknown] {
    const row = this.shownOf(stored)!;
    const [of, as] = text.split(' AS ');
    if (as === undefined) return [nameIn(text), row[nameIn(text)] ?? null];
    if (of === 'toUnixTimestamp(now())') return [as, Math.floor(this.now / 1_000)];
    return [as, row[nameIn(of!)] === undefined ? null : stored.cells.get(nameIn(of!))!.at];
  }

  private applied(isApplied: boolean, write: () => void): StatementResult {
    if (isApplied) write();
    return { rows: [{ '[applied]': isApplied }] };
  }

  private tick(): number {
    this.now += 1_000;
    return this.now;
  }

  private shown(key: CqlRow): CqlRow | undefined {
    return this.shownOf(this.storedOf(key));
  }

  /**
   * The row that a SELECT returns, or undefined if the row does not exist. A delete hides each value whose timestamp
   * is not later than the timestamp of the delete.
   */
  private shownOf({ key, insertedAt, deletedAt, cells }: Stored): CqlRow | undefined {
    const live = [...cells].filter(
      ([, { value, at, until = Number.POSITIVE_INFINITY }]) => value !== null && at > deletedAt && this.now < until,
    );
    if (insertedAt <= deletedAt && live.length === 0) return undefined;
    return { ...key, ...Object.fromEntries(live.map(([name, { value }]) => [name, value])) };
  }

  private storedOf(row: CqlRow): Stored {
    const name = JSON.stringify(this.key.map((column) => textOf(row[column])));
    const key = Object.fromEntries(this.key.map((column) => [column, row[column]]));
    const stored = this.rows.get(name) ?? { key, insertedAt: 0, deletedAt: 0, cells: new Map() };
    this.rows.set(name, stored);
    return stored;
  }
}

/**
 * The columns in a part of a statement, each with its value from the parameters. Removes these parameters from the
 * list.
 */
function given(part: string, parameters: unknown[]): CqlRow {
  const names = [...part.matchAll(/"(\w+)" = \?/g)].map(([, name]) => name!);
  return Object.fromEntries(names.map((name) => [name, parameters.shift()]));
}

function nameIn(text: string): string {
  return /"(\w+)"/.exec(text)![1]!;
}

/** The error of the driver for a statement that Cassandra rejects. */
function invalid(message: string): Error {
  return Object.assign(new Error(message), { name: 'ResponseError', code: 0x2200 });
}
