import { IncompleteAnswerError } from '../foundation/incomplete-answer-error';
import type { CqlClient, CqlRow, StatementOptions, StatementResult } from './cql-client';
import { NO_CONNECTION } from './cql-failure';
import { NoConnectionError } from './keyspaces-errors';

/** Errors of the parsers that clients read answers with. */
const PARSER_ERRORS = ['RangeError', 'SyntaxError', 'TypeError'];

/**
 * What a SELECT gives: rows, and where the next page goes on.
 *
 * @throws IncompleteAnswerError for an answer that nobody could read; NoConnectionError while the client has no connection;
 *   what else the client throws
 */
export async function selectRows(
  client: CqlClient,
  { query, parameters }: { query: string; parameters: unknown[] },
  options: StatementOptions,
): Promise<{ rows: CqlRow[]; pageState?: string }> {
  const { rows, pageState }: StatementResult = Object(await answerOf(client, query, parameters, options));
  const isComplete =
    Array.isArray(rows) && rows.every((row) => Object(row) === row) && (!pageState || typeof pageState === 'string');
  if (!isComplete) throw incompleteRows();
  return { rows, ...(pageState && { pageState }) };
}

async function answerOf(client: CqlClient, ...statement: Parameters<CqlClient['execute']>): Promise<unknown> {
  try {
    return await client.execute(...statement);
  } catch (cause) {
    const { name, message }: Partial<Error> = Object(cause);
    if (PARSER_ERRORS.includes(name!)) throw incompleteRows({ cause });
    // The driver's own error has neither a name nor a code that a caller could know it by.
    throw message === NO_CONNECTION ? new NoConnectionError({ cause }) : cause;
  }
}

/** An answer without what the order of rows and the next page depend on. */
export function incompleteRows(options?: ErrorOptions): IncompleteAnswerError {
  return new IncompleteAnswerError('SELECT', 'rows with their clustering columns, and lead on', options);
}
