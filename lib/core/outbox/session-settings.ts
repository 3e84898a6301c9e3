import type { Statements } from './statements';

/**
 * The settings of each session and transaction of the relay. They override the settings of the role, the database and the server.
 * Older servers do not have all of these settings.
 */
const SETTINGS: Readonly<Record<string, string>> = {
  // With another search path, Postgres could call a function that another role has created in another schema.
  search_path: 'pg_catalog, pg_temp',
  // The driver and the relay parse values in these formats.
  client_encoding: 'UTF8',
  standard_conforming_strings: 'on',
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  extra_float_digits: '1',
  bytea_output: 'hex',
  // With this setting, Postgres raises an error instead of hiding rows.
  row_security: 'off',
  restrict_nonsystem_relation_kind: '',
  // Each statement must see all rows that were committed before it began.
  default_transaction_isolation: 'read committed',
  default_transaction_read_only: 'off',
  default_transaction_deferrable: 'off',
  // Postgres must not end the session of an idle relay. Only the relay's own timeout limits statements.
  lock_timeout: '0',
  idle_session_timeout: '0',
  transaction_timeout: '0',
  exit_on_error: 'off',
  // Postgres notices within 13 seconds that a relay no longer responds.
  tcp_keepalives_idle: '5',
  tcp_keepalives_interval: '2',
  tcp_keepalives_count: '4',
  tcp_user_timeout: '0',
  // The planner's statistics are always stale for tables that fill and drain within minutes. The planner must use an index, and
  // not read and sort all waiting rows or all parked rows. Postgres must not use JIT: it overestimates the cost of the statement
  // that reads a batch, and would compile the statement for every batch.
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_sort: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_indexscan: 'on',
  enable_nestloop: 'on',
  plan_cache_mode: 'auto',
  max_parallel_workers_per_gather: '0',
  jit: 'off',
};

/** The server must also cancel a statement after the relay's timeout, because a statement that still runs holds locks. */
const TIMEOUTS = ['statement_timeout', 'idle_in_transaction_session_timeout'];

export interface Setting {
  readonly name: string;
  readonly value: string;
}

export function relaySessionSettings(statementTimeoutMs: number): Setting[] {
  const timeouts = TIMEOUTS.map((name) => [name, `${statementTimeoutMs}`] as const);
  return [...Object.entries(SETTINGS), ...timeouts].map(([name, value]) => ({ name, value }));
}

/** Reads the values of settings, without the settings that the server does not have. */
export async function currentSettings(statements: Statements, settings: readonly Setting[]): Promise<Setting[]> {
  const rows = await statements.rows('readSettings', [settings.map(({ name }) => name)]);
  if (rows.length !== settings.length) statements.connection.abandon(new TypeError('no settings'));
  return rows.filter(({ value }) => value !== null);
}

/** Applies the settings that the server has, for the session or for the transaction. Returns their new values. */
export async function applySettings(
  statements: Statements,
  settings: readonly Setting[],
  within: 'session' | 'transaction',
): Promise<Setting[]> {
  const [names, values] = [settings.map(({ name }) => name), settings.map(({ value }) => value)];
  return statements.rows('applySettings', [names, values, within === 'transaction']);
}

/** Runs work in a transaction. The relay's settings apply only within this transaction. */
export async function inTransaction<T>(
  statements: Statements,
  statementTimeoutMs: number,
  work: () => Promise<T>,
): Promise<T> {
  const { connection } = statements;
  await connection.query({ text: 'BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE NOT DEFERRABLE' });
  try {
    await applySettings(statements, relaySessionSettings(statementTimeoutMs), 'transaction');
    const result = await work();
    await connection.query({ text: 'COMMIT' });
    return result;
  } catch (error) {
    // On a lost connection the rollback fails, too.
    await connection.query({ text: 'ROLLBACK' }).catch(() => {});
    throw error;
  }
}
