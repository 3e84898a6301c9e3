import { OutboxMigrationError, OutboxOwnerError, OutboxSchemaError } from './outbox-errors';
import { checkSchemaName, DEFAULT_OUTBOX_SCHEMA, FIRST_SCHEMA_VERSION, readSchema } from './outbox-schema';
import type { PostgresClient } from './postgres-client';
import { MIGRATIONS } from './sql/generated';
import { inSchema, statementText } from './sql-text';

/** A migration of the schema from the previous version. */
export interface OutboxMigration {
  /** The version of the schema after the migration. */
  version: number;
  /**
   * The migration as one statement, so that every migration tool runs it atomically. The statement restores the caller's
   * `search_path`.
   */
  sql: string;
}

/**
 * The migrations of an outbox, in order. Use the migration tool of your project to run each migration whose version is higher
 * than the version of the outbox schema in your database. Or call `migrateOutbox`.
 *
 * @param schema the schema's name: 1 to 40 characters of a-z, 0-9 and underscore, not beginning with a digit or `pg_`, and not a
 *   reserved word
 * @throws InvalidArgumentError if the name is invalid
 */
export function outboxMigrationsOf(schema: string): OutboxMigration[] {
  checkSchemaName(schema);
  return MIGRATIONS.map(({ version, sql }) => migration(version, inSchema(sql, schema)));
}

/**
 * @param statements the statements of the migration. Postgres parses them with only `pg_catalog` in the `search_path`, so that
 *   they never call a function of another role
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

/** The migrations of the schema `outbox`. */
export const outboxMigrations: OutboxMigration[] = outboxMigrationsOf(DEFAULT_OUTBOX_SCHEMA);

/** The SQLSTATE of a savepoint outside a transaction. Source: the manual of Postgres, error codes. */
const NO_ACTIVE_TRANSACTION = '25P01';

/** The SQLSTATE of a statement that has waited for `lock_timeout`. Source: the manual of Postgres, error codes. */
const LOCK_NOT_AVAILABLE = '55P03';

/** How long a migration waits for other migrations and for writers. */
const LOCK_TIMEOUT_MS = 60_000;

/**
 * Migrates the schema of an outbox to the version that this library needs. If the connection is in a transaction, the function
 * uses this transaction, restores the settings of the transaction, and leaves the transaction open. Otherwise the function uses
 * its own transaction. If the schema already has the version, the function changes nothing. Concurrent calls wait for each other,
 * for up to a minute.
 *
 * @param client a connection, not a pool, because a transaction needs one connection
 * @returns the versions of the migrations that ran
 * @throws InvalidArgumentError if the name of the schema is invalid
 * @throws OutboxMigrationError if another session holds a lock for longer than a minute
 * @throws OutboxOwnerError if another role owns the schema
 * @throws OutboxSchemaError if a build before the first release created the schema
 * @throws the errors of Postgres
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
    // On a lost connection the rollback fails, too.
    if (!isWithin) await client.query({ text: 'ROLLBACK' }).catch(() => {});
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
  const { version: present } = await readSchema(client, schema);
  if (present > 0 && present < FIRST_SCHEMA_VERSION) {
    throw new OutboxSchemaError(schema, present, migrations.at(-1)!.version);
  }
  const missing = migrations.filter(({ version }) => version > present);
  for (const { sql } of missing) await client.query({ text: sql });
  return missing.map(({ version }) => version);
}

/**
 * Checks the owner of a schema, because the owner decides what its functions do.
 *
 * @throws OutboxOwnerError if the schema belongs to a role that the current role is not a member of
 */
async function checkOwner(client: Pick<PostgresClient, 'query'>, schema: string): Promise<void> {
  const { rows } = await client.query({ text: statementText('findForeignOwner', schema) });
  if (rows.length > 0) throw new OutboxOwnerError(schema, rows[0].owner, rows[0].role);
}

/** Whether the caller's connection is in a transaction. Tests this with a savepoint, because there is no other way. */
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
