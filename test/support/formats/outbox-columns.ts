import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StoredName } from './stored-names';

const MIGRATIONS = 'lib/core/outbox/sql/migrations';

/** The migrations of the outbox, in order, with the version of the schema after each of them. */
export function outboxMigrationFiles(): { version: number; path: string; sql: string }[] {
  const folder = join(__dirname, '..', '..', '..', MIGRATIONS);
  return readdirSync(folder)
    .sort()
    .map((file) => ({
      version: Number(file.slice(0, 4)),
      path: `${MIGRATIONS}/${file}`,
      sql: readFileSync(join(folder, file), 'utf8'),
    }));
}

/** The columns of each table that SQL statements create or extend. */
export function columnsOf(sql: string, path: string): Map<string, StoredName[]> {
  const tables = new Map<string, StoredName[]>();
  const add = (table: string, names: string[]) =>
    tables.set(table, [...(tables.get(table) ?? []), ...names.map((name) => ({ name, path }))]);
  const text = sql.replace(/--.*$/gm, '');
  for (const [, table, body] of text.matchAll(/CREATE TABLE (?:IF NOT EXISTS )?(?:\w+\.)?(\w+) \(\n(.*?)\n\)/gs)) {
    add(
      table!,
      [...body!.matchAll(/^ {2}([a-z_]\w*) /gm)].map(([, column]) => column!),
    );
  }
  for (const [, table, column] of text.matchAll(/ALTER TABLE (?:\w+\.)?(\w+)\s+ADD (?:COLUMN )?([a-z_]\w*) /g)) {
    add(table!, [column!]);
  }
  return tables;
}
