import type { CqlClient, CqlRow, StatementOptions } from './cql-client';
import { columnsBeyondDates, withLongTimes, withMilliseconds } from './long-time';
import { selectRows } from './select-rows';
import type { Statement } from './select-statement';

/**
 * What a SELECT returns, without any loss. If a page has a time that a `Date` cannot hold, it costs one more request.
 *
 * @throws what `selectRows` throws
 */
export async function selectWholeRows(
  client: CqlClient,
  statement: Statement,
  options: StatementOptions,
): Promise<{ rows: CqlRow[]; pageState?: string }> {
  const page = await selectRows(client, statement, options);
  const columns = columnsBeyondDates(page.rows);
  if (columns.length === 0) return page;
  const again = await selectRows(client, withMilliseconds(statement, columns), options);
  return { ...again, rows: withLongTimes(again.rows, columns) };
}
