import { InvalidArgumentError } from '../kernel/errors';
import type { PostgresClient } from './postgres-client';
import { RESERVED_WORDS } from './reserved-words';
import { FIRST_VERSION, LATEST_VERSION } from './sql/generated';
import { statementText } from './sql-text';

/** The default schema of an outbox. */
export const DEFAULT_OUTBOX_SCHEMA = 'outbox';

/** The version of the first release. Earlier builds created schemas with lower versions. */
export const FIRST_SCHEMA_VERSION = FIRST_VERSION;

/** The version of the schema that this library needs. */
export const OUTBOX_SCHEMA_VERSION = LATEST_VERSION;

/** Postgres reserves names that begin with `pg_`. */
const SCHEMA_NAME = /^(?!pg_)[a-z_][a-z0-9_]{0,39}$/;

/** The schema of an outbox in a database. */
export interface PresentSchema {
  /** The version of the schema; 0 if there is no schema. */
  readonly version: number;
  /** The oldest relay that can use the schema, as `checkFormat` reads it. */
  readonly format?: string | number;
}

export async function readSchema(client: Pick<PostgresClient, 'query'>, schema: string): Promise<PresentSchema> {
  const found = await client.query({ text: statementText('hasSettingsTable', schema) });
  if (!found.rows[0].there) return { version: 0 };
  const { rows } = await client.query({ text: statementText('readVersion', schema) });
  const { version = 0, format = null }: { version?: number; format?: string | null } = Object(rows[0]);
  return { version, format: format ?? version };
}

export function checkSchemaName(schema: unknown, field = 'schema'): asserts schema is string {
  if (typeof schema === 'string' && SCHEMA_NAME.test(schema) && !RESERVED_WORDS.has(schema)) return;
  throw new InvalidArgumentError(
    field,
    schema,
    '1 to 40 characters of a-z, 0-9 and underscore, not beginning with a digit or pg_, and not a reserved word of SQL',
  );
}
