import { IncompleteAnswerError } from '../kernel/incomplete-answer-error';
import type { CqlClient, CqlRow, StatementOptions, StatementResult } from './cql-client';
import { NO_CONNECTION } from './cql-failure';
import { NoConnectionError } from './keyspaces-errors';

/** The errors with which the parsers of clients fail. */
const PARSER_ERRORS = ['RangeError', 'SyntaxError', 'TypeError'];

/**
 * What a SELECT returns: rows, and where the next page goes on.
 *
 * @throws IncompleteAnswerError for an answer that nobody could read; NoConnectionError while the client has no connection;
 *   any other error of the client
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
    // The driver's own error has neither a name nor a code by which a caller could recognise it.
    throw message === NO_CONNECTION ? new NoConnectionError({ cause }) : cause;
  }
}

/** The answer lacks something on which the order of rows or the next page depends. */
export function incompleteRows(options?: ErrorOptions): IncompleteAnswerError {
  return new IncompleteAnswerError('SELECT', 'rows with their clustering columns, and lead on', options);
}
