import { IncompleteAnswerError } from '../kernel/incomplete-answer-error';
import { OutboxConnectionError } from './outbox-errors';
import type { Patience } from './patience';
import type { PostgresClient, PostgresQuery } from './postgres-client';

type Answer = Awaited<ReturnType<PostgresClient['query']>>;

interface Asked {
  readonly query: PostgresQuery;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

/** Two relays may use one connection of a pool, one after the other, and somebody may have discarded the statements of the first. */
let connections = 0;

/** One connection to Postgres: one statement at a time, and none any more when one had no answer, or one to something else. */
export class Connection {
  /** What has no answer yet. The first is in flight, and the others wait for it. */
  private readonly asked: Asked[] = [];
  private readonly prepared = new Set<string>();
  private readonly ordinal = connections++;
  private lost?: OutboxConnectionError;

  constructor(
    private readonly client: PostgresClient,
    private readonly patience: Patience,
  ) {}

  /** @throws what Postgres says; OutboxConnectionError if it says nothing, now or before */
  query(query: PostgresQuery): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.asked.push({ query, resolve, reject });
      if (this.asked.length === 1) void this.askAll();
    });
  }

  /** Removes the prepared statements from the session. */
  async forgetStatements(): Promise<void> {
    for (const name of this.prepared) await this.query({ text: `DEALLOCATE ${name}` });
    this.prepared.clear();
  }

  /** Reads what the rows of an answer say. Rows that do not say it are no answer to what was asked. */
  said<T>(read: () => T): T {
    try {
      return read();
    } catch (cause) {
      return this.notAnswered(cause);
    }
  }

  /** Gives the connection up, because an answer was none to what was asked. */
  notAnswered(cause: unknown): never {
    return this.lose(new IncompleteAnswerError('a statement', 'its columns', { cause }));
  }

  private async askAll(): Promise<void> {
    for (let first = this.asked[0]; first !== undefined; first = this.asked[0]) {
      await this.ask(first.query).then(first.resolve, first.reject);
      this.asked.shift();
    }
  }

  private async ask(query: PostgresQuery): Promise<Answer> {
    if (this.lost !== undefined) throw this.lost;
    const { name } = query;
    const named = name === undefined ? query : { ...query, name: `${name}_${this.ordinal}` };
    try {
      const answer = await this.patience.for(this.client.query(named));
      if (named.name !== undefined) this.prepared.add(named.name);
      return answer;
    } catch (error) {
      // Postgres gives its errors a code, and so does the system.
      if ((error as { code?: string }).code !== undefined) throw error;
      return this.lose(error);
    }
  }

  private lose(cause: unknown): never {
    this.lost = new OutboxConnectionError({ cause });
    throw this.lost;
  }
}
