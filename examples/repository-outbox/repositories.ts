import type { Pool, PoolClient } from 'pg';

/** An event of a repository in the stream. */
export interface RepositoryEvent {
  action: 'create' | 'update' | 'commit' | 'destroy';
  repository: string;
  description?: string;
  /** The hash of a commit. */
  commit?: string;
}

/**
 * Stores repositories in a table, and puts an event into the outbox for each change. The change and its event are in
 * one transaction. The partition key is the name of the repository, so that the events of a repository arrive in
 * order.
 */
export class Repositories {
  constructor(private readonly pool: Pool) {}

  async createTable(): Promise<void> {
    await this.pool.query('CREATE TABLE IF NOT EXISTS repositories (name text PRIMARY KEY, description text NOT NULL)');
  }

  create(repository: string, description: string): Promise<void> {
    return this.transaction(async (client) => {
      await client.query('INSERT INTO repositories (name, description) VALUES ($1, $2)', [repository, description]);
      await putEvent(client, { action: 'create', repository, description });
    });
  }

  update(repository: string, description: string): Promise<void> {
    return this.transaction(async (client) => {
      const { rowCount } = await client.query('UPDATE repositories SET description = $2 WHERE name = $1', [
        repository,
        description,
      ]);
      if (rowCount === 0) throw new Error(`there is no repository ${repository}`);
      await putEvent(client, { action: 'update', repository, description });
    });
  }

  /**
   * The partition key is the repository, not the commit hash, because a consumer must receive the commit before the
   * event that destroys the repository.
   */
  commit(repository: string, commit: string): Promise<void> {
    return this.transaction(async (client) => {
      const { rowCount } = await client.query('SELECT FROM repositories WHERE name = $1 FOR SHARE', [repository]);
      if (rowCount === 0) throw new Error(`there is no repository ${repository}`);
      await putEvent(client, { action: 'commit', repository, commit });
    });
  }

  /** Puts the event first. If the repository does not exist, the transaction rolls the event back. */
  destroy(repository: string): Promise<void> {
    return this.transaction(async (client) => {
      await putEvent(client, { action: 'destroy', repository });
      const { rowCount } = await client.query('DELETE FROM repositories WHERE name = $1', [repository]);
      if (rowCount === 0) throw new Error(`there is no repository ${repository}`);
    });
  }

  private async transaction(work: (client: PoolClient) => Promise<void>): Promise<void> {
    const client = await this.pool.connect();
    try {
      await client.query('BEGIN');
      await work(client);
      await client.query('COMMIT');
    } catch (error) {
      await client.query('ROLLBACK');
      throw error;
    } finally {
      client.release();
    }
  }
}

async function putEvent(client: PoolClient, event: RepositoryEvent): Promise<void> {
  await client.query('SELECT outbox.put($1, $2)', [event.repository, JSON.stringify(event)]);
}
