/** A statement, as `pg` takes it. */
export interface PostgresQuery {
  text: string;
  values?: unknown[];
  /** Makes it a prepared statement of the connection. */
  name?: string;
}

/** One connection to Postgres. A connected `Client` of the package `pg` is one. */
export interface PostgresClient {
  // biome-ignore lint/suspicious/noExplicitAny: a row's columns are the statement's
  query(query: PostgresQuery): Promise<{ rows: any[]; rowCount: number | null }>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  on(event: 'notification', listener: (message: { channel: string; payload?: string }) => void): unknown;
  // biome-ignore lint/suspicious/noExplicitAny: the events above have listeners of their own
  removeListener(event: string, listener: (...payload: any[]) => void): unknown;
}

/** Connections to Postgres. A `Pool` of the package `pg` is one. */
export interface PostgresPool {
  connect(): Promise<PostgresClient & { release(broken?: boolean | Error): void }>;
  /** A connection can break before its promise is heard of, and then nobody would listen. */
  on?(event: 'connect', listener: (client: PostgresClient) => void): unknown;
  removeListener?(event: 'connect', listener: (client: PostgresClient) => void): unknown;
  /** Tells a pool from a client. */
  readonly totalCount: number;
  /** How the pool was made. */
  readonly options?: { readonly max?: number };
}
