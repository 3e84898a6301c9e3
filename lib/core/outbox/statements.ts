import type { Connection } from './connection';
import { type StatementName, statementText } from './sql-text';

/** The most frequent statements. Postgres parses and plans a prepared statement only once for each connection. */
const PREPARED: ReadonlySet<StatementName> = new Set(['takeSnapshot', 'readBatch', 'savePosition']);

/** Runs the statements of the outbox in one schema, on one connection. */
export class Statements {
  private readonly texts = new Map<StatementName, string>();

  constructor(
    readonly connection: Connection,
    readonly schema: string,
  ) {}

  // biome-ignore lint/suspicious/noExplicitAny: a row has the columns of its statement
  async rows(name: StatementName, values: readonly unknown[] = []): Promise<any[]> {
    const { rows } = await this.connection.query({
      text: this.textOf(name),
      ...(values.length > 0 && { values: [...values] }),
      ...(PREPARED.has(name) && { name: `${this.schema}_${name}` }),
    });
    return rows;
  }

  private textOf(name: StatementName): string {
    let text = this.texts.get(name);
    if (text === undefined) {
      text = statementText(name, this.schema);
      this.texts.set(name, text);
    }
    return text;
  }
}
