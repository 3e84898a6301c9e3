import type { CqlClient, CqlRow, StatementOptions } from './cql-client';
import { columnsBeyondDates, withLongTimes, withMilliseconds } from './long-time';
import { selectRows } from './select-rows';
import type { Statement } from './select-statement';

/** A page of rows. */
export interface WholeRows {
  rows: CqlRow[];
  pageState?: string;
}

/**
 * Executes a SELECT without loss of timestamps. A page with a timestamp outside the range of `Date` costs one more
 * request.
 *
 * @throws the errors of `selectRows`
 */
export async function selectWholeRows(
  client: CqlClient,
  statement: Statement,
  options: StatementOptions,
): Promise<WholeRows> {
  const page = await selectRows(client, statement, options);
  const columns = columnsBeyondDates(page.rows);
  if (columns.length === 0) return page;
  const again = await selectRows(client, withMilliseconds(statement, columns), options);
  return { ...again, rows: withLongTimes(again.rows, columns) };
}
