import type { CqlClient, CqlRow, ShardedKeyspacesConfig, StatementOptions, StatementResult } from '../../../lib/core';
import { textOf } from './fake-cassandra';

/** Rows of a page of a scan. */
const PAGE_ROWS = 10;

/**
 * A whole Cassandra table in memory, behind the port that the driver's client satisfies. It understands what scans and moves rows: a
 * SELECT of the table, of all tokens alone, a SELECT of one row, and writes with conditions.
 */
export class FakeRowTable implements CqlClient {
  readonly sent: string[] = [];
  /** Called with each statement: what it throws before or after, the client throws. */
  before: (query: string) => void = () => {};
  after: (query: string) => void = () => {};
  private readonly rows = new Map<string, CqlRow>();
  private readonly key: readonly string[];

  constructor({ partitionKey, shardColumn, clusteringColumns }: ShardedKeyspacesConfig) {
    const names = (columns: readonly { name: string }[]) => columns.map(({ name }) => name);
    this.key = [...names(partitionKey), shardColumn, ...names(clusteringColumns)];
  }

  insert(row: CqlRow): void {
    this.rows.set(this.keyOf(row), row);
  }

  delete(row: CqlRow): void {
    this.rows.delete(this.keyOf(row));
  }

  get all(): CqlRow[] {
    return [...this.rows.values()];
  }

  async execute(query: string, parameters: unknown[], options: StatementOptions): Promise<StatementResult> {
    this.sent.push(query);
    this.before(query);
    const result = this.answer(query, parameters, options);
    this.after(query);
    return result;
  }

  private answer(query: string, parameters: unknown[], { pageState }: StatementOptions): StatementResult {
    const names = [...query.matchAll(/"(\w+)" = \?/g)].map(([, name]) => name!);
    const given = Object.fromEntries(names.map((name, index) => [name, parameters[index]]));
    if (query.startsWith('INSERT')) {
      const columns = /\((.+?)\) VALUES/
        .exec(query)![1]!
        .split(', ')
        .map((name) => name.slice(1, -1));
      const row = Object.fromEntries(columns.map((name, index) => [name, parameters[index]]));
      const isApplied = !this.rows.has(this.keyOf(row));
      if (isApplied) this.insert(row);
      return applied(isApplied);
    }
    const found = names.length === 0 ? undefined : this.rows.get(this.keyOf(given));
    if (query.startsWith('DELETE')) {
      const [, condition] = query.split(' IF ');
      const compared = [...condition!.matchAll(/"(\w+)" = \?/g)].map(([, name]) => name!);
      // As Cassandra has it: of a row that is gone every column is null.
      const isSame = compared.every((name) => textOf(found?.[name] ?? null) === textOf(given[name]));
      const isApplied = condition === 'EXISTS' ? found !== undefined : isSame;
      if (isApplied && found !== undefined) this.delete(found);
      return applied(isApplied);
    }
    if (names.length > 0) return { rows: found ? [found] : [] };
    // As tokens are: in an order of their own, which rows that come and go do not change.
    const inOrder = [...this.rows]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .filter(([key]) => !pageState || key > pageState);
    const page = inOrder.slice(0, PAGE_ROWS);
    return { rows: page.map(([, row]) => row), pageState: inOrder.length > PAGE_ROWS ? page.at(-1)![0] : null };
  }

  private keyOf(row: CqlRow): string {
    return JSON.stringify(this.key.map((name) => textOf(row[name])));
  }
}

function applied(is: boolean): StatementResult {
  return { rows: [{ '[applied]': is }] };
}
