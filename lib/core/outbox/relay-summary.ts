/** What a relay has done. */
export interface RelaySummary {
  /** Rows that Kinesis has acknowledged; one that was sent again counts each time. */
  relayed: number;
  /** Rows that were moved to the table `parked`, where they wait for their key's turn. */
  parked: number;
  /** How often a row was rejected. */
  rejections: number;
  /** Rows that were moved to the table `rejected`. */
  givenUp: number;
  /** How often the connection to Postgres was lost. */
  reconnects: number;
}

export function noRelaySummary(): RelaySummary {
  return { relayed: 0, parked: 0, rejections: 0, givenUp: 0, reconnects: 0 };
}
