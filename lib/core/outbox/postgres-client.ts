/** A statement in the format of `pg`. */
export interface PostgresQuery {
  text: string;
  values?: unknown[];
  /** The name of a prepared statement of the connection. */
  name?: string;
}

/** One connection to Postgres. A connected `Client` of the package `pg` fits without an adapter. */
export interface PostgresClient {
  // biome-ignore lint/suspicious/noExplicitAny: a row's columns are the statement's
  query(query: PostgresQuery): Promise<{ rows: any[]; rowCount: number | null }>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  on(event: 'notification', listener: (message: { channel: string; payload?: string }) => void): unknown;
  // biome-ignore lint/suspicious/noExplicitAny: the events above have listeners of their own
  removeListener(event: string, listener: (...payload: any[]) => void): unknown;
}

/** A pool of connections to Postgres. A `Pool` of the package `pg` fits without an adapter. */
export interface PostgresPool {
  connect(): Promise<PostgresClient & { release(broken?: boolean | Error): void }>;
  /**
   * Adds a listener for new connections. The relay needs it because a connection can break before `connect` resolves, when the
   * connection has no other listener.
   */
  on?(event: 'connect', listener: (client: PostgresClient) => void): unknown;
  removeListener?(event: 'connect', listener: (client: PostgresClient) => void): unknown;
  /** Distinguishes a pool from a client. */
  readonly totalCount: number;
  /** The options of the pool. */
  readonly options?: { readonly max?: number };
}
