import type { FanOutOrder } from '../fan-out/page-request';
import type { ReadConsistency } from './cql-client';

/** A value of a key column: a plain JavaScript value, or an object of the driver. */
export type CqlValue = string | number | bigint | boolean | Date | Uint8Array | { toString(): string };

/** A condition on one clustering column: `eq`, a range with one or both ends, `between`, or `beginsWith` for text. */
export type ClusteringCondition =
  | { eq: CqlValue }
  | { gt?: CqlValue; gte?: CqlValue; lt?: CqlValue; lte?: CqlValue }
  | { between: [CqlValue, CqlValue] }
  | { beginsWith: string };

/** A query of a sharded table. */
export interface FanOutSelectRequest {
  /** The value to read: all columns of the partition key except the shard column. Set `value` or `values`. */
  value?: Record<string, CqlValue>;
  /**
   * Up to 100 different values, whose rows the query merges in one order. Each value has its own shard count.
   * @default only `value`
   */
  values?: Record<string, CqlValue>[];
  /**
   * Conditions by clustering column: `eq` on the first columns, in the order of the key, and then one range on the next
   * column. The database reads only the rows that meet the conditions; the query never uses `ALLOW FILTERING`.
   */
  where?: Record<string, ClusteringCondition>;
  /**
   * The order of the rows over all values and shards, by the clustering columns. If the table sorts the first clustering column
   * in the requested direction, the query returns the rows in the order of the table. Otherwise the query returns the rows in
   * exactly the reverse order. `unordered` costs less for a small page, because the query reads only as many shards as the page
   * needs.
   * @default the order of the table
   */
  order?: FanOutOrder;
  /**
   * The maximum number of rows of a page, at least 1.
   * @default no bound
   */
  limit?: number;
  /**
   * The `cursor` of the previous page. Only `limit`, `projection` and `consistency` may differ from the request for the
   * previous page.
   */
  cursor?: string;
  /**
   * The columns to return.
   * @default every column
   */
  projection?: string[];
  /** @default 'LOCAL_ONE' */
  consistency?: ReadConsistency;
}
