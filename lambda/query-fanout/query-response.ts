import type { FanOutStats } from '../../lib/core/foundation/fan-out/fan-out-stats';

/** The answer of the function. */
export interface QueryResponse {
  /** Absent if the event asks for a count. */
  items?: Record<string, unknown>[];
  /**
   * Pass it with the same query to read the next page, which may turn out to be empty, or to count the rest. Absent if
   * nothing can follow.
   */
  cursor?: string;
  /** How many items the page holds, or how many were counted. */
  count: number;
  /** The shards that are missing from a partial page. To get their items, ask for this page again. */
  missingShards?: number[];
  stats: FanOutStats;
}
