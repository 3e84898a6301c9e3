/** The cost of a query. */
export interface FanOutStats {
  /** The number of shards of the query. */
  shards: number;
  /** The number of requests, including retries and hedges. */
  requests: number;
  /** The number of waves. A wave is a set of requests that run in parallel. */
  waves: number;
  /** The number of throttled requests. The query retried each throttled request, up to the last attempt. */
  throttled: number;
  /** The number of hedges: requests that the query sent a second time because the first response was late. */
  hedged: number;
  /** The number of items that the store evaluated, including items outside the page. */
  itemsRead: number;
  /** The number of evaluated items that the filter has hidden. The store charges for these items, too. */
  itemsHidden: number;
  /** The read units of the responses that the query used. Aborted requests may have consumed more read units. */
  consumedReadUnits: number;
}

/** The cost of a query before its first read. */
export function noCost(shards: number): FanOutStats {
  return { shards, requests: 0, waves: 0, throttled: 0, hedged: 0, itemsRead: 0, itemsHidden: 0, consumedReadUnits: 0 };
}
