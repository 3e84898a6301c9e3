import { type CallLimit, callWithin } from '../kernel/call-within';
import { IncompleteAnswerError } from '../kernel/incomplete-answer-error';
import { OutboxConnectionError } from './outbox-errors';
import type { PostgresClient, PostgresQuery } from './postgres-client';

type Response = Awaited<ReturnType<PostgresClient['query']>>;

interface PendingQuery {
  readonly query: PostgresQuery;
  resolve(response: Response): void;
  reject(error: unknown): void;
}

/**
 * Numbers the `Connection` objects, for the names of their prepared statements. Two relays can use the same connection of a pool
 * one after the other, and the pool may have discarded the prepared statements of the first relay.
 */
let connections = 0;

/**
 * One connection to Postgres. It runs one statement at a time. After a statement without a valid response, it runs no more
 * statements.
 */
export class Connection {
  /** The first statement is in flight, and the other statements wait for its response. */
  private readonly pending: PendingQuery[] = [];
  private readonly prepared = new Set<string>();
  private readonly ordinal = connections++;
  private lost?: OutboxConnectionError;

  /** @param limit the time limit of each statement. A half-open connection or a hanging server gives no error, only a timeout. */
  constructor(
    private readonly client: PostgresClient,
    private readonly limit: CallLimit,
  ) {}

  /** @throws the error of Postgres; OutboxConnectionError if this or an earlier statement has no valid response */
  query(query: PostgresQuery): Promise<Response> {
    return new Promise((resolve, reject) => {
      this.pending.push({ query, resolve, reject });
      if (this.pending.length === 1) void this.sendAll();
    });
  }

  async forgetStatements(): Promise<void> {
    for (const name of this.prepared) await this.query({ text: `DEALLOCATE "${name}"` });
    this.prepared.clear();
  }

  /**
   * Parses the rows of a response. Rows without the expected columns belong to another statement. The connection is then marked
   * as lost.
   */
  parse<T>(read: () => T): T {
    try {
      return read();
    } catch (cause) {
      return this.abandon(cause);
    }
  }

  /**
   * Marks the connection as lost, because a response did not belong to its statement. The connection then runs no more
   * statements.
   */
  abandon(cause: unknown): never {
    return this.lose(new IncompleteAnswerError('a statement', 'its columns', { cause }));
  }

  private async sendAll(): Promise<void> {
    for (let first = this.pending[0]; first !== undefined; first = this.pending[0]) {
      await this.send(first.query).then(first.resolve, first.reject);
      this.pending.shift();
    }
  }

  private async send(query: PostgresQuery): Promise<Response> {
    if (this.lost !== undefined) throw this.lost;
    const named = query.name === undefined ? query : { ...query, name: `${query.name}_${this.ordinal}` };
    try {
      const response = await callWithin(this.limit, () => this.client.query(named));
      if (named.name !== undefined) this.prepared.add(named.name);
      return response;
    } catch (error) {
      // Errors of Postgres and of the system have a code.
      if ((error as { code?: string }).code !== undefined) throw error;
      return this.lose(error);
    }
  }

  private lose(cause: unknown): never {
    this.lost = new OutboxConnectionError({ cause });
    throw this.lost;
  }
}
