import { STATEMENTS } from './sql/generated';

export type StatementName = keyof typeof STATEMENTS;

/** Replaces the placeholder in the text of a .sql file with the name of a schema. The caller must have checked the name. */
export function inSchema(sql: string, schema: string): string {
  return sql.replaceAll('outbox_schema', schema);
}

/** The text of a statement for the outbox in the given schema. */
export function statementText(name: StatementName, schema: string): string {
  return inSchema(STATEMENTS[name], schema);
}
