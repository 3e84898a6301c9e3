import type { FanOutOrder } from '../fan-out/page-request';
import type { ReadConsistency } from './cql-client';

/** A value of a key column: in plain JavaScript, or as one of the driver's own classes. */
export type CqlValue = string | number | bigint | boolean | Date | Uint8Array | { toString(): string };

/**
 * A condition on one clustering column: `eq`, or one end of a range or both, or `between`, or, for text, `beginsWith`.
 */
export type ClusteringCondition =
  | { eq: CqlValue }
  | { gt?: CqlValue; gte?: CqlValue; lt?: CqlValue; lte?: CqlValue }
  | { between: [CqlValue, CqlValue] }
  | { beginsWith: string };

/** What to read from a sharded table. */
export interface FanOutSelectRequest {
  /** The value to read: each column of the partition key without the shard. A query needs `value` or `values`. */
  value?: Record<string, CqlValue>;
  /**
   * Several values whose rows to read in one order: 1 to 100 different ones. Each value has its own shard count.
   * @default the one `value`
   */
  values?: Record<string, CqlValue>[];
  /**
   * Conditions by clustering column: `eq` on the first ones, in the order of the key, and then one range. They narrow what
   * is read; `ALLOW FILTERING` is never added.
   */
  where?: Record<string, ClusteringCondition>;
  /**
   * The order of the rows over all values and shards, by the clustering columns: that of the table or its exact reverse, whichever has
   * the first clustering column ascending or descending. `unordered` is cheaper for small pages: it asks few shards at a time.
   * @default the table's own
   */
  order?: FanOutOrder;
  /**
   * The most rows a page holds, at least 1.
   * @default every row is read
   */
  limit?: number;
  /** The `cursor` of the page before, from a query that was otherwise the same. */
  cursor?: string;
  /**
   * Columns to return.
   * @default every column
   */
  projection?: string[];
  /** @default 'LOCAL_ONE' */
  consistency?: ReadConsistency;
}
