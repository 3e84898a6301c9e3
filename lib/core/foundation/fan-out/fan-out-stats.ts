/** What a query cost. */
export interface FanOutStats {
  /** Shards the query covers. */
  shards: number;
  /** Requests sent, retries and hedges included. */
  requests: number;
  /** Rounds of requests that ran side by side. */
  waves: number;
  /** Requests that were answered with a throttle, and sent again unless that was the last attempt. */
  throttled: number;
  /** Requests that were sent a second time because the first was late. */
  hedged: number;
  /** Items DynamoDB evaluated, whether they are in the page or not. */
  itemsRead: number;
  /** Read units of the answers that were used. A request that was given up may have cost more. */
  consumedReadUnits: number;
}

/** The cost of a query that has read nothing yet. */
export function noCost(shards: number): FanOutStats {
  return { shards, requests: 0, waves: 0, throttled: 0, hedged: 0, itemsRead: 0, consumedReadUnits: 0 };
}
