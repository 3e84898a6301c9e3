import { checkFormat } from '../kernel/format-version';
import { OutboxPermissionError, OutboxRowSecurityError, OutboxSchemaError, OutboxSequenceError } from './outbox-errors';
import { OUTBOX_SCHEMA_VERSION, type PresentSchema, readSchema } from './outbox-schema';
import type { Statements } from './statements';

/** The SQLSTATE for a missing permission. Source: the manual of Postgres, error codes. */
const INSUFFICIENT_PRIVILEGE = '42501';

/**
 * Checks that a relay can work with an outbox.
 *
 * @throws OutboxRowSecurityError, OutboxSchemaError, NewerFormatError, OutboxPermissionError or OutboxSequenceError
 */
export async function checkOutbox(statements: Statements): Promise<void> {
  const { schema } = statements;
  const hiding = await statements.rows('findRowSecurity');
  const tables = hiding.map(({ relname }) => `${schema}.${relname}`);
  if (tables.length > 0) throw new OutboxRowSecurityError(await currentRole(statements), tables);
  const { version, format } = await presentSchema(statements);
  if (version < OUTBOX_SCHEMA_VERSION) throw new OutboxSchemaError(schema, version, OUTBOX_SCHEMA_VERSION);
  checkFormat('outbox schema', format);
  const missing = (await statements.rows('findMissingPermissions')).map((row) => row.missing);
  if (missing.length > 0) throw new OutboxPermissionError(await currentRole(statements), missing, schema);
  // A role without permission for the sequence gets no row.
  const [sequence] = await statements.rows('readCacheSize');
  if (Number(sequence?.cache_size ?? 1) !== 1) throw new OutboxSequenceError(schema, sequence.cache_size);
}

async function presentSchema(statements: Statements): Promise<PresentSchema> {
  const { connection, schema } = statements;
  try {
    return await readSchema(connection, schema);
  } catch (error) {
    if (error instanceof TypeError) connection.abandon(error);
    if ((error as { code?: string }).code !== INSUFFICIENT_PRIVILEGE) throw error;
    throw new OutboxPermissionError(await currentRole(statements), [(error as Error).message], schema, {
      cause: error,
    });
  }
}

async function currentRole(statements: Statements): Promise<string> {
  const rows = await statements.rows('readRole');
  return statements.connection.parse(() => rows[0].role);
}
