import type { Statements } from './statements';

/**
 * Each session and each transaction of the relay has these settings, so those of its role, its database and its server do not
 * matter. A server of an older version does not know all of them.
 */
const SETTINGS: Readonly<Record<string, string>> = {
  // A role that may create functions in another schema could put a better match of a call there.
  search_path: 'pg_catalog, pg_temp',
  // How Postgres writes values, which the driver and the relay parse.
  client_encoding: 'UTF8',
  standard_conforming_strings: 'on',
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  extra_float_digits: '1',
  bytea_output: 'hex',
  // Postgres raises an error instead of hiding rows.
  row_security: 'off',
  restrict_nonsystem_relation_kind: '',
  // Each statement must see what is committed when it begins.
  default_transaction_isolation: 'read committed',
  default_transaction_read_only: 'off',
  default_transaction_deferrable: 'off',
  // An idle relay keeps its session. Its statements have one timeout, that of the relay.
  lock_timeout: '0',
  idle_session_timeout: '0',
  transaction_timeout: '0',
  exit_on_error: 'off',
  // Postgres notices within 13 seconds that a relay is gone.
  tcp_keepalives_idle: '5',
  tcp_keepalives_interval: '2',
  tcp_keepalives_count: '4',
  tcp_user_timeout: '0',
  // The planner's statistics are always stale for tables that fill and drain within minutes. It must not read and sort all
  // rows that wait to find the first ones, nor all parked rows to remove some: an index finds each row, or its successor.
  // Nor must it compile the statement that reads a batch each time, because it takes the statement for expensive.
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

/** The server ends a statement, too, for which the relay does not wait any longer: until then it keeps its locks. */
const TIMEOUTS = ['statement_timeout', 'idle_in_transaction_session_timeout'];

export interface Setting {
  readonly name: string;
  readonly value: string;
}

export function relaySessionSettings(statementTimeoutMs: number): Setting[] {
  const timeouts = TIMEOUTS.map((name) => [name, `${statementTimeoutMs}`] as const);
  return [...Object.entries(SETTINGS), ...timeouts].map(([name, value]) => ({ name, value }));
}

/** Reads the values of some settings. It leaves out a setting that the server does not know. */
export async function currentSettings(statements: Statements, settings: readonly Setting[]): Promise<Setting[]> {
  const rows = await statements.rows('readSettings', [settings.map(({ name }) => name)]);
  if (rows.length !== settings.length) statements.connection.abandon(new TypeError('no settings'));
  return rows.filter(({ value }) => value !== null);
}

/** Sets what the server knows of some settings, and returns their values then: for the session, or for the transaction. */
export async function applySettings(
  statements: Statements,
  settings: readonly Setting[],
  within: 'session' | 'transaction',
): Promise<Setting[]> {
  const [names, values] = [settings.map(({ name }) => name), settings.map(({ value }) => value)];
  return statements.rows('applySettings', [names, values, within === 'transaction']);
}

/** Does some work in a transaction that has the relay's settings. They end with the transaction. */
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
    // A lost connection has nothing to roll back, and throws again.
    await connection.query({ text: 'ROLLBACK' }).catch(() => {});
    throw error;
  }
}
