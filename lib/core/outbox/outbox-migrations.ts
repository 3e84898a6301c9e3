import { checkSchemaName, DEFAULT_OUTBOX_SCHEMA, schemaVersion } from './outbox-schema';
import type { PostgresClient } from './postgres-client';
import { schemaVersion1 } from './schema-version-1';
import { schemaVersion2 } from './schema-version-2';

/** A step of the schema, from the version before. */
export interface OutboxMigration {
  /** The version that the schema has afterwards. */
  version: number;
  /** One statement, so that all of it happens or nothing, whatever runs it. */
  sql: string;
}

/**
 * The steps that make the schema of an outbox, in order: run those above the version that a database has, with whatever
 * your project runs its migrations with, or call `migrateOutbox`.
 *
 * @param schema the schema's name: 1 to 40 of a-z, 0-9 and underscore, not beginning with a digit or `pg_`, no reserved word
 * @throws InvalidArgumentError if the name is none
 */
export function outboxMigrationsOf(schema: string): OutboxMigration[] {
  checkSchemaName(schema);
  return [
    { version: 1, sql: oneStatement(schemaVersion1(schema)) },
    { version: 2, sql: oneStatement(schemaVersion2(schema)) },
  ];
}

function oneStatement(statements: string): string {
  return `DO $even_shards$ BEGIN EXECUTE $migration$\n${statements}\n$migration$; END $even_shards$;\n`;
}

/** The steps that make the schema `outbox`. */
export const outboxMigrations: OutboxMigration[] = outboxMigrationsOf(DEFAULT_OUTBOX_SCHEMA);

/** Outside of a transaction there is nothing to save. Source: the manual of Postgres, error codes. */
const NO_ACTIVE_TRANSACTION = '25P01';

/**
 * Brings the schema of an outbox to the version that this library works with, in one transaction: yours if the connection is
 * in one, which it leaves open, or else one of its own. Does nothing where it is. Callers at the same time wait for each
 * other.
 *
 * @param client a connection, not a pool: the transaction is one connection's
 * @returns the versions that were added
 * @throws InvalidArgumentError if the name of the schema is none
 */
export async function migrateOutbox(
  client: Pick<PostgresClient, 'query'>,
  { schema = DEFAULT_OUTBOX_SCHEMA }: { schema?: string } = {},
): Promise<number[]> {
  const migrations = outboxMigrationsOf(schema);
  const isWithin = await isInTransaction(client);
  if (!isWithin) await client.query({ text: 'BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE' });
  try {
    await client.query({ text: 'SELECT pg_advisory_xact_lock(hashtext($1), -1)', values: [schema] });
    const present = await schemaVersion(client, schema);
    const missing = migrations.filter(({ version }) => version > present);
    for (const { sql } of missing) await client.query({ text: sql });
    if (!isWithin) await client.query({ text: 'COMMIT' });
    return missing.map(({ version }) => version);
  } catch (error) {
    if (!isWithin) await client.query({ text: 'ROLLBACK' });
    throw error;
  }
}

/** Nothing else says it of a connection that somebody else has opened. */
async function isInTransaction(client: Pick<PostgresClient, 'query'>): Promise<boolean> {
  try {
    await client.query({ text: 'SAVEPOINT even_shards_migration' });
  } catch (error) {
    if ((error as { code?: string }).code === NO_ACTIVE_TRANSACTION) return false;
    throw error;
  }
  await client.query({ text: 'RELEASE SAVEPOINT even_shards_migration' });
  return true;
}
