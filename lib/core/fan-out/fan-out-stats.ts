/** The cost of a query. */
export interface FanOutStats {
  /** How many shards the query covers. */
  shards: number;
  /** How many requests the query sent. Retries and hedges are included. */
  requests: number;
  /** How many waves the query took. A wave is a set of requests that run side by side. */
  waves: number;
  /** How many requests were throttled. The query sent each of them again, unless it was the last attempt. */
  throttled: number;
  /** How many requests the query sent a second time because the first answer was late. */
  hedged: number;
  /** How many items the store evaluated, on the page or not. */
  itemsRead: number;
  /** How many of them the filter has hidden: the store charges for these, too, and nothing shows them. */
  itemsHidden: number;
  /** Read units of the answers that the query used. A request that the query aborted may have cost more. */
  consumedReadUnits: number;
}

/** The cost of a query before its first read. */
export function noCost(shards: number): FanOutStats {
  return { shards, requests: 0, waves: 0, throttled: 0, hedged: 0, itemsRead: 0, itemsHidden: 0, consumedReadUnits: 0 };
}
