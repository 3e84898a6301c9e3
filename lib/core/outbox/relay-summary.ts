/** The counts of a relay. */
export interface RelaySummary {
  /** Acknowledgements of rows by Kinesis. A row that was sent again counts each time. */
  relayed: number;
  /** Rows that were copied to the table `parked`. */
  parked: number;
  /** Rejected tries of rows. */
  rejections: number;
  /** Rows that were moved to the table `rejected`. */
  givenUp: number;
  /** How often the connection to Postgres was lost. */
  reconnects: number;
}

export function noRelaySummary(): RelaySummary {
  return { relayed: 0, parked: 0, rejections: 0, givenUp: 0, reconnects: 0 };
}
