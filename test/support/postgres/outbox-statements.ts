import { Connection } from '../../../lib/core/outbox/connection';
import type { PostgresClient, PostgresQuery } from '../../../lib/core/outbox/postgres-client';
import { STATEMENTS } from '../../../lib/core/outbox/sql/generated';
import { type StatementName, statementText } from '../../../lib/core/outbox/sql-text';
import { Statements } from '../../../lib/core/outbox/statements';
import { VirtualClock } from '../../../lib/testing';

const NAMES = new Map(
  Object.keys(STATEMENTS).map((name) => [statementText(name as StatementName, 'outbox'), name as StatementName]),
);

/** The name of a statement for the schema `outbox`. If the statement is in no .sql file, its name is its first word. */
export function statementName({ text }: Pick<PostgresQuery, 'text'>): StatementName | 'SET' | 'DEALLOCATE' {
  return NAMES.get(text) ?? (text.split(' ')[0] as 'SET');
}

export type FakeRows = object[] | ((values: readonly unknown[]) => object[]);

/**
 * Statements with fake rows, and the names of the statements that ran. If a statement has no fake rows, it returns an
 * empty result.
 */
export function fakeStatements(answers: Partial<Record<StatementName, FakeRows>>) {
  const ran: { name: StatementName | 'SET' | 'DEALLOCATE'; values?: unknown[] }[] = [];
  const query = async (given: PostgresQuery) => {
    const name = statementName(given);
    ran.push({ name, values: given.values });
    const answer = answers[name as StatementName] ?? [];
    const rows = typeof answer === 'function' ? answer(given.values ?? []) : answer;
    return { rows, rowCount: rows.length };
  };
  const limit = { ms: 1_000, clock: new VirtualClock() };
  const statements = new Statements(new Connection({ query } as unknown as PostgresClient, limit), 'outbox');
  const valuesOf = (name: StatementName) => ran.filter((each) => each.name === name).map(({ values }) => values);
  return { statements, ran, valuesOf };
}
