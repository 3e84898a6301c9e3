/** The counts of a relay. */
export interface RelaySummary {
  /** How many times Kinesis acknowledged a row. A row that was sent twice can count twice. */
  relayed: number;
  /** Rows that were copied to the table `parked`. */
  parked: number;
  /** How many times the stream rejected a row. */
  rejections: number;
  /** Rows that were moved to the table `rejected`. */
  givenUp: number;
  /** How many times the connection to Postgres was lost. */
  reconnects: number;
}

export function noRelaySummary(): RelaySummary {
  return { relayed: 0, parked: 0, rejections: 0, givenUp: 0, reconnects: 0 };
}
