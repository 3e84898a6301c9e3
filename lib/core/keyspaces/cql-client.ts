import { InvalidArgumentError } from '../kernel/errors';

/** The options of a statement, in the driver's terms. */
export interface StatementOptions {
  /** Whether the statement is prepared, so that the driver knows the types of the parameters. */
  prepare: boolean;
  /** The number of the consistency level in the CQL protocol. */
  consistency: number;
  /** Whether the driver may send the statement again, or twice. */
  isIdempotent: boolean;
  /** The number, in the CQL protocol, of the consistency level of a condition. */
  serialConsistency?: number;
  /** The most rows of a page. */
  fetchSize?: number;
  /** Where the page before ended. */
  pageState?: string;
}

/** What a statement returns. */
export interface StatementResult {
  rows: object[];
  /** Where the next page goes on; null or absent at the end. */
  pageState?: string | null;
}

/** What reading needs from Cassandra. A `Client` of `cassandra-driver` satisfies it as it is. */
export interface CqlClient {
  execute(query: string, parameters: unknown[], options: StatementOptions): Promise<StatementResult>;
}

/** @throws InvalidArgumentError unless the client can execute statements */
export function checkCqlClient(client: unknown): void {
  if (typeof Object(client).execute === 'function') return;
  throw new InvalidArgumentError('client', client, 'a client with execute, such as the Client of cassandra-driver');
}

/**
 * `LOCAL_ONE` costs half of `LOCAL_QUORUM`, and may miss what was written a moment ago.
 * Source: the Amazon Keyspaces developer guide, "Supported Apache Cassandra read consistency levels and associated costs".
 */
export type ReadConsistency = 'LOCAL_ONE' | 'LOCAL_QUORUM';

/** Source: the CQL binary protocol, section 3, [consistency]. */
export const CONSISTENCY_LEVELS: Record<ReadConsistency, number> = { LOCAL_QUORUM: 0x6, LOCAL_ONE: 0xa };

/**
 * The options to write a row with, which every driver of Node takes: prepared; at `LOCAL_QUORUM`, the only level at which
 * Amazon Keyspaces writes; and idempotent, because a row whose shard is already chosen can be written again.
 */
export const KEYSPACES_WRITE_OPTIONS: Readonly<Pick<StatementOptions, 'prepare' | 'consistency' | 'isIdempotent'>> = {
  prepare: true,
  consistency: CONSISTENCY_LEVELS.LOCAL_QUORUM,
  isIdempotent: true,
};

/** A row as the driver gives it: values by column name. */
// biome-ignore lint/suspicious/noExplicitAny: the driver's classes are the application's affair
export type CqlRow = Record<string, any>;
