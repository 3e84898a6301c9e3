import { IncompleteAnswerError } from '../kernel/incomplete-answer-error';
import type { CqlClient, CqlRow, StatementOptions, StatementResult } from './cql-client';
import { NO_CONNECTION } from './cql-failure';
import { NoConnectionError } from './keyspaces-errors';

/** The errors that clients throw for a response that they cannot parse. */
const PARSER_ERRORS = ['RangeError', 'SyntaxError', 'TypeError'];

/**
 * Executes a SELECT. Returns the rows of the response, and the `pageState` to read the next page.
 *
 * @throws IncompleteAnswerError if the response cannot be parsed
 * @throws NoConnectionError while the client has no connection
 * @throws any other error of the client
 */
export async function selectRows(
  client: CqlClient,
  { query, parameters }: { query: string; parameters: unknown[] },
  options: StatementOptions,
): Promise<{ rows: CqlRow[]; pageState?: string }> {
  const { rows, pageState }: StatementResult = Object(await responseOf(client, query, parameters, options));
  const isComplete =
    Array.isArray(rows) && rows.every((row) => Object(row) === row) && (!pageState || typeof pageState === 'string');
  if (!isComplete) throw incompleteRows();
  return { rows, ...(pageState && { pageState }) };
}

async function responseOf(client: CqlClient, ...statement: Parameters<CqlClient['execute']>): Promise<unknown> {
  try {
    return await client.execute(...statement);
  } catch (cause) {
    const { name, message }: Partial<Error> = Object(cause);
    if (PARSER_ERRORS.includes(name!)) throw incompleteRows({ cause });
    // The driver's error has only a message, so replace it by an error with a code.
    throw message === NO_CONNECTION ? new NoConnectionError({ cause }) : cause;
  }
}

/**
 * The error for an unusable response: it cannot be parsed, a row lacks a clustering column, or its `pageState` was used before.
 */
export function incompleteRows(options?: ErrorOptions): IncompleteAnswerError {
  return new IncompleteAnswerError(
    'SELECT',
    'rows with their clustering columns, and no pageState that came before',
    options,
  );
}
