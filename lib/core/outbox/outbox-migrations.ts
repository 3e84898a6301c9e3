import { OutboxMigrationError, OutboxOwnerError, OutboxSchemaError } from './outbox-errors';
import { checkSchemaName, DEFAULT_OUTBOX_SCHEMA, FIRST_SCHEMA_VERSION, schemaVersion } from './outbox-schema';
import type { PostgresClient } from './postgres-client';
import { MIGRATIONS } from './sql/generated';
import { inSchema, statementText } from './sql-text';

/** A step of the schema, from the version before. */
export interface OutboxMigration {
  /** The version that the schema has afterwards. */
  version: number;
  /** One statement, so that all of it happens or nothing, whatever runs it. It restores the caller's `search_path`. */
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
  return MIGRATIONS.map(({ version, sql }) => migration(version, inSchema(sql, schema)));
}

/**
 * @param statements are parsed with `pg_catalog` as the whole `search_path`, so that none of them calls a function that
 *   another role has created
 */
export function migration(version: number, statements: string): OutboxMigration {
  const sql = `DO $even_shards$
DECLARE
  path_of_caller CONSTANT pg_catalog.text := pg_catalog.current_setting('search_path');
BEGIN
  PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
  EXECUTE $migration$
${statements}
$migration$;
  PERFORM pg_catalog.set_config('search_path', path_of_caller, true);
END $even_shards$;
`;
  return { version, sql };
}

/** The steps that make the schema `outbox`. */
export const outboxMigrations: OutboxMigration[] = outboxMigrationsOf(DEFAULT_OUTBOX_SCHEMA);

/** Outside of a transaction there is nothing to save. Source: the manual of Postgres, error codes. */
const NO_ACTIVE_TRANSACTION = '25P01';

/** The SQLSTATE of a statement that has waited for `lock_timeout`. Source: the manual of Postgres, error codes. */
const LOCK_NOT_AVAILABLE = '55P03';

/** How long a migration waits for others, and for writers. */
const LOCK_TIMEOUT_MS = 60_000;

/**
 * Brings the schema of an outbox to the version that this library works with. If the connection is in a transaction, it uses
 * that transaction, restores its settings and leaves it open. Otherwise it uses a transaction of its own. It does nothing if the
 * schema has the version. Concurrent calls wait for each other, for a minute.
 *
 * @param client a connection, not a pool: the transaction is one connection's
 * @returns the versions that were added
 * @throws InvalidArgumentError if the name of the schema is none; OutboxMigrationError if another session holds a lock for
 *   longer than a minute; OutboxOwnerError if another role owns the schema; OutboxSchemaError if a build before the first release made the schema; what Postgres throws
 */
export async function migrateOutbox(
  client: Pick<PostgresClient, 'query'>,
  { schema = DEFAULT_OUTBOX_SCHEMA }: { schema?: string } = {},
): Promise<number[]> {
  return applyMigrations(client, schema, outboxMigrationsOf(schema), LOCK_TIMEOUT_MS);
}

export async function applyMigrations(
  client: Pick<PostgresClient, 'query'>,
  schema: string,
  migrations: readonly OutboxMigration[],
  lockTimeoutMs: number,
): Promise<number[]> {
  const isWithin = await isInTransaction(client);
  if (!isWithin) await client.query({ text: 'BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE' });
  try {
    const readSettings = statementText('readMigrationSettings', schema);
    const applySettings = statementText('applyMigrationSettings', schema);
    const [caller] = (await client.query({ text: readSettings })).rows;
    await client.query({ text: applySettings, values: ['pg_catalog, pg_temp', 'off', `${lockTimeoutMs}`] });
    const added = await addMissing(client, schema, migrations);
    await client.query({ text: applySettings, values: [caller.path, caller.security, caller.timeout] });
    if (!isWithin) await client.query({ text: 'COMMIT' });
    return added;
  } catch (error) {
    if (!isWithin) await client.query({ text: 'ROLLBACK' });
    throw (error as { code?: string }).code === LOCK_NOT_AVAILABLE
      ? new OutboxMigrationError(schema, { cause: error })
      : error;
  }
}

async function addMissing(
  client: Pick<PostgresClient, 'query'>,
  schema: string,
  migrations: readonly OutboxMigration[],
): Promise<number[]> {
  await client.query({ text: statementText('lockMigrations', schema) });
  await checkOwner(client, schema);
  const present = await schemaVersion(client, schema);
  if (present > 0 && present < FIRST_SCHEMA_VERSION) {
    throw new OutboxSchemaError(schema, present, migrations.at(-1)!.version);
  }
  const missing = migrations.filter(({ version }) => version > present);
  for (const { sql } of missing) await client.query({ text: sql });
  return missing.map(({ version }) => version);
}

/**
 * The owner of a schema decides what its functions do. So a schema of a stranger must not pass for an outbox.
 *
 * @throws OutboxOwnerError if the schema belongs to a role that this one does not act for
 */
async function checkOwner(client: Pick<PostgresClient, 'query'>, schema: string): Promise<void> {
  const { rows } = await client.query({ text: statementText('findForeignOwner', schema) });
  if (rows.length > 0) throw new OutboxOwnerError(schema, rows[0].owner, rows[0].role);
}

/** Whether the caller's connection is in a transaction. Only a savepoint shows it. */
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
