import type { CqlClient, CqlRow, ShardedKeyspacesConfig, StatementOptions, StatementResult } from '../../../lib/core';

/** The columns and options of the table. */
interface FakeTable {
  partitionKey: string[];
  clusteringColumns: { name: string; order: 'ASC' | 'DESC'; compare(a: string, b: string): number }[];
}

interface FakeCassandraOptions {
  /** Returns the maximum number of rows in the next response. @default the fetch size */
  pageRows?(): number;
  /** Whether a response is empty although more rows follow. @default never */
  isEmptyPage?(): boolean;
}

/** A relation in a WHERE clause. */
interface Relation {
  column: string;
  operator: keyof typeof HOLDS;
  value: unknown;
}

/** Whether a relation holds, by the difference between the value of the row and the value of the relation. */
const HOLDS = {
  '=': (difference: number) => difference === 0,
  '<': (difference: number) => difference < 0,
  '<=': (difference: number) => difference <= 0,
  '>': (difference: number) => difference > 0,
  '>=': (difference: number) => difference >= 0,
};

/**
 * A Cassandra table in memory with the interface of the driver. It accepts a SELECT of one partition, and rejects a
 * range that is not contiguous in its partition. Each page state is unique and is valid for one statement only.
 */
export class FakeCassandra implements CqlClient {
  readonly sent: { query: string; parameters: unknown[]; options: StatementOptions }[] = [];
  private readonly partitions = new Map<string, CqlRow[]>();
  private readonly staticOnly = new Set<string>();

  constructor(
    private readonly table: FakeTable,
    private readonly options: FakeCassandraOptions = {},
  ) {}

  /** The table of a configuration. By default, its clustering columns are numbers. */
  static of(
    { partitionKey, shardColumn, clusteringColumns }: ShardedKeyspacesConfig,
    compare = (a: string, b: string) => Number(a) - Number(b),
  ): FakeCassandra {
    return new FakeCassandra({
      partitionKey: [...partitionKey.map(({ name }) => name), shardColumn],
      clusteringColumns: clusteringColumns.map(({ name, order }) => ({ name, order, compare })),
    });
  }

  insert(row: CqlRow): void {
    const rows = this.rowsOf(row);
    const index = rows.findIndex((other) => this.compare(other, row) >= 0);
    if (index === -1) rows.push(row);
    else rows.splice(index, this.compare(rows[index]!, row) === 0 ? 1 : 0, row);
  }

  /** A partition with a value in a static column. It may have no rows. */
  insertStatic(key: CqlRow): void {
    this.rowsOf(key);
    this.staticOnly.add(this.partitionOf(key));
  }

  delete(row: CqlRow): void {
    const rows = this.rowsOf(row);
    const index = rows.findIndex((other) => this.compare(other, row) === 0);
    if (index !== -1) rows.splice(index, 1);
  }

  async execute(query: string, parameters: unknown[], options: StatementOptions): Promise<StatementResult> {
    this.sent.push({ query, parameters, options });
    const [, columns, where, reverse] = /^SELECT (.+) FROM "\w+"\."\w+" WHERE (.+?)(?: ORDER BY (.+))?$/.exec(query)!;
    const relations = where!.split(' AND ').map((text, index): Relation => {
      const [, column, operator] = /^"(\w+)" (=|<|<=|>|>=) \?$/.exec(text)!;
      return { column: column!, operator: operator as Relation['operator'], value: parameters[index] };
    });
    this.checkRelations(relations);
    this.checkOrder(reverse);
    const key = Object.fromEntries(relations.map(({ column, value }) => [column, value]));
    const all = this.rowsOf(key).filter((row) => relations.every((relation) => this.holds(row, relation)));
    if (reverse !== undefined) all.reverse();
    const statement = JSON.stringify([query, parameters]);
    const start = options.pageState === undefined ? 0 : this.startBehind(all, statement, options.pageState, !!reverse);
    const size = this.options.isEmptyPage?.()
      ? 0
      : Math.min(options.fetchSize ?? 5_000, this.options.pageRows?.() ?? 5_000);
    const rows = all.slice(start, start + size).map((row) => only(row, columns!));
    const clustered = relations.some(({ column }) => this.table.clusteringColumns.some(({ name }) => name === column));
    if (all.length === 0 && !clustered && this.staticOnly.has(this.partitionOf(key))) {
      const empty = Object.fromEntries(this.table.clusteringColumns.map(({ name }) => [name, null]));
      return { rows: [only({ ...key, ...empty }, columns!)], pageState: null };
    }
    const last = all[start + size - 1] ?? all[start - 1];
    const more = start + size < all.length;
    const pageState = more
      ? JSON.stringify([statement, last === undefined ? null : this.keyOf(last).map(textOf), this.sent.length])
      : null;
    return { rows, pageState };
  }

  private startBehind(all: CqlRow[], statement: string, pageState: string, reversed: boolean): number {
    const [of, key] = JSON.parse(pageState) as [string, string[] | null];
    if (of !== statement) throw invalid('a page state of another statement');
    if (key === null) return 0;
    // The last row of the previous page may be deleted since then, so this page starts after the position of that row.
    const index = all.findIndex((row) => this.compareTexts(row, key) * (reversed ? -1 : 1) > 0);
    return index === -1 ? all.length : index;
  }

  private compareTexts(row: CqlRow, key: string[]): number {
    for (const [index, { name, order, compare }] of this.table.clusteringColumns.entries()) {
      const difference = compare(textOf(row[name]), key[index]!);
      if (difference !== 0) return order === 'ASC' ? difference : -difference;
    }
    return 0;
  }

  private checkRelations(relations: Relation[]): void {
    const of = (name: string) => relations.filter(({ column }) => column === name);
    for (const name of this.table.partitionKey) {
      if (of(name).length !== 1 || of(name)[0]!.operator !== '=') throw invalid(`no equality on ${name}`);
    }
    let ended = false;
    for (const { name } of this.table.clusteringColumns) {
      const found = of(name);
      if (ended && found.length > 0) throw invalid(`${name} needs ALLOW FILTERING`);
      ended ||= found.length === 0 || found.some(({ operator }) => operator !== '=');
      const ends = found.map(({ operator }) => operator[0]);
      if (new Set(ends).size < ends.length) throw invalid(`more than one bound of ${name}`);
      if (ends.includes('=') && ends.length > 1) throw invalid(`an equality and a bound of ${name}`);
    }
    const known = [...this.table.partitionKey, ...this.table.clusteringColumns.map(({ name }) => name)];
    const unknown = relations.find(({ column }) => !known.includes(column));
    if (unknown !== undefined) throw invalid(`${unknown.column} needs ALLOW FILTERING`);
    const empty = relations.find(({ operator, value }) => value === undefined || (value === null && operator === '='));
    if (empty !== undefined) throw invalid(`no value of ${empty.column}`);
  }

  private checkOrder(reverse: string | undefined): void {
    const exact = this.table.clusteringColumns.map(
      ({ name, order }) => `"${name}" ${order === 'ASC' ? 'DESC' : 'ASC'}`,
    );
    if (reverse !== undefined && reverse !== exact.join(', ')) throw invalid(`no order by ${reverse}`);
  }

  private holds(row: CqlRow, { column, operator, value }: Relation): boolean {
    const clustering = this.table.clusteringColumns.find(({ name }) => name === column);
    if (clustering === undefined) return true;
    // A null bound is before all rows, in the order of the table.
    if (value === null) return operator.startsWith(clustering.order === 'ASC' ? '>' : '<');
    const difference = clustering.compare(textOf(row[column]), textOf(value));
    return HOLDS[operator](difference);
  }

  private compare(a: CqlRow, b: CqlRow): number {
    for (const { name, order, compare } of this.table.clusteringColumns) {
      const difference = compare(textOf(a[name]), textOf(b[name]));
      if (difference !== 0) return order === 'ASC' ? difference : -difference;
    }
    return 0;
  }

  private keyOf(row: CqlRow): unknown[] {
    return this.table.clusteringColumns.map(({ name }) => row[name]);
  }

  private partitionOf(row: CqlRow): string {
    return JSON.stringify(this.table.partitionKey.map((name) => textOf(row[name])));
  }

  private rowsOf(row: CqlRow): CqlRow[] {
    const partition = this.partitionOf(row);
    const rows = this.partitions.get(partition) ?? [];
    this.partitions.set(partition, rows);
    return rows;
  }
}

/** A value of any class as a string. */
export function textOf(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  if (Object.is(value, -0)) return '-0';
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : String(value);
}

function only(row: CqlRow, columns: string): CqlRow {
  return Object.fromEntries(columns.split(', ').map((name) => [name.slice(1, -1), row[name.slice(1, -1)] ?? null]));
}

/** The error of the driver for a statement that Cassandra rejects. */
function invalid(message: string): Error {
  return Object.assign(new Error(message), { name: 'ResponseError', code: 0x2200 });
}
