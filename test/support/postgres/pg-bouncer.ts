import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, chmodSync, constants, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { systemClock } from '../../../lib/core/kernel/clock';

const PROGRAM = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']
  .map((folder) => join(folder, 'pgbouncer'))
  .find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });

export const hasPgBouncer = PROGRAM !== undefined;

/** A real PgBouncer for a server of the tests. */
export class PgBouncer {
  private constructor(
    private readonly child: ChildProcess,
    private readonly folder: string,
    readonly url: string,
  ) {}

  static async start(
    serverUrl: string,
    mode: 'transaction' | 'statement' | 'session',
    poolSize = 6,
  ): Promise<PgBouncer> {
    const { port: serverPort, pathname, username, password } = new URL(serverUrl);
    const folder = mkdtempSync(join(tmpdir(), 'pgbouncer-'));
    chmodSync(folder, 0o755);
    const port = await freePort();
    const database = pathname.slice(1);
    writeFileSync(join(folder, 'users'), `"${username}" "${password}"\n`);
    writeFileSync(
      join(folder, 'ini'),
      [
        '[databases]',
        `${database} = host=127.0.0.1 port=${serverPort} dbname=${database} user=${username} password=${password}`,
        '[pgbouncer]',
        'listen_addr = 127.0.0.1',
        `listen_port = ${port}`,
        'unix_socket_dir =',
        'auth_type = plain',
        `auth_file = ${join(folder, 'users')}`,
        `pool_mode = ${mode}`,
        `default_pool_size = ${poolSize}`,
        '',
      ].join('\n'),
    );
    // PgBouncer does not run as root.
    const user = process.getuid?.() === 0 ? ['-u', 'postgres'] : [];
    const child = spawn(PROGRAM!, [...user, join(folder, 'ini')], { stdio: 'ignore' });
    const url = new URL(serverUrl);
    url.port = `${port}`;
    const bouncer = new PgBouncer(child, folder, url.href);
    while (child.exitCode === null && !(await accepts(port))) await systemClock.sleep(20);
    if (child.exitCode !== null) throw new Error(`pgbouncer has ended with ${child.exitCode}`);
    return bouncer;
  }

  async stop(): Promise<void> {
    if (this.child.exitCode === null) {
      const exited = once(this.child, 'exit');
      this.child.kill('SIGKILL');
      await exited;
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
