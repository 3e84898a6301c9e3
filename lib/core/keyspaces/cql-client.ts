import { InvalidArgumentError } from '../kernel/errors';

/** The options of a statement, in the driver's terms. */
export interface StatementOptions {
  /** Whether to prepare the statement, so that the driver knows the types of the parameters. */
  prepare: boolean;
  /** The number of the consistency level in the CQL protocol. */
  consistency: number;
  /** Whether the driver may send the statement more than once. */
  isIdempotent: boolean;
  /** The number of the consistency level of a conditional write in the CQL protocol. */
  serialConsistency?: number;
  /** The maximum number of rows of a page. */
  fetchSize?: number;
  /** The `pageState` of the previous page. */
  pageState?: string;
}

/** The result of a statement. */
export interface StatementResult {
  rows: object[];
  /** The position of the next page: pass it as `pageState` to read that page. Null or absent after the last page. */
  pageState?: string | null;
}

/** The part of a Cassandra client that this module uses. A `Client` of `cassandra-driver` fits without an adapter. */
export interface CqlClient {
  execute(query: string, parameters: unknown[], options: StatementOptions): Promise<StatementResult>;
}

/** @throws InvalidArgumentError if the client has no `execute` */
export function checkCqlClient(client: unknown): void {
  if (typeof Object(client).execute === 'function') return;
  throw new InvalidArgumentError('client', client, 'a client with execute, such as the Client of cassandra-driver');
}

/**
 * The consistency level of a read. `LOCAL_ONE` costs half as much as `LOCAL_QUORUM`, and may miss recent writes.
 * Source: the Amazon Keyspaces developer guide, "Supported Apache Cassandra read consistency levels and associated
 * costs".
 */
export type ReadConsistency = 'LOCAL_ONE' | 'LOCAL_QUORUM';

/** Source: the CQL binary protocol, section 3, [consistency]. */
export const CONSISTENCY_LEVELS: Record<ReadConsistency, number> = { LOCAL_QUORUM: 0x6, LOCAL_ONE: 0xa };

/**
 * The options for writing a row, in the form that every driver for Node.js accepts. The statement is prepared. The statement
 * uses `LOCAL_QUORUM`, the only consistency level of writes in Amazon Keyspaces. The statement is idempotent: if it is executed
 * twice, it writes the same row with the same shard again.
 */
export const KEYSPACES_WRITE_OPTIONS: Readonly<Pick<StatementOptions, 'prepare' | 'consistency' | 'isIdempotent'>> = {
  prepare: true,
  consistency: CONSISTENCY_LEVELS.LOCAL_QUORUM,
  isIdempotent: true,
};

/** A row in the driver's form: values by column name. */
// biome-ignore lint/suspicious/noExplicitAny: the application knows the driver's classes, and this module does not
export type CqlRow = Record<string, any>;
