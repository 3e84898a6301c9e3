import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { UsageError } from '../../../../bin/flags';
import { reshard } from '../../../../bin/reshard';
import { reshardRowsOfTable } from '../../../../bin/reshard/rows';
import { CqlType, ShardCounts, ShardedKeyspacesTable } from '../../../../lib';
import { type ShardedKeyspacesConfig, shardColumns } from '../../../../lib/core';
import { FakeRowTable } from '../../../support/fakes/fake-row-table';

/** The number of rows. It is larger than a page of the simulated table. */
const ROWS = 40;

/** An app with a table of this number of shards. */
function appOf(shards: number): { app: string; config: ShardedKeyspacesConfig } {
  const app = new App();
  const stack = new Stack(app, 'Blogs');
  const table = new ShardedKeyspacesTable(stack, 'Table', {
    keyspaceName: 'tracker',
    tableName: 'blogs',
    partitionKey: [{ name: 'day', cqlType: CqlType.DATE }],
    clusteringColumns: [{ name: 'id', cqlType: CqlType.INT }],
    regularColumns: [{ name: 'body', cqlType: CqlType.TEXT }],
    shardCounts: ShardCounts.byValue({ '2020-7-9': shards }, 1).alsoReading(ShardCounts.uniform(20)),
    firstShard: 1,
  });
  return { config: JSON.parse(stack.resolve(table.toConfigJson())), app: app.synth().directory };
}

/** Runs `reshard rows` on a table. Returns the output and the exit code of the command. */
async function run(table: FakeRowTable, ...args: string[]) {
  const [out, err] = (['log', 'error'] as const).map((name) => jest.spyOn(console, name).mockImplementation(() => {}));
  const shutdown = jest.fn(async () => {});
  const client = Object.assign(table, { shutdown });
  try {
    await reshardRowsOfTable(['tracker.blogs', '--cassandra', 'localhost', ...args], async () => client);
    expect(shutdown).toHaveBeenCalledTimes(1);
    const [stdout, stderr] = [out!, err!].map((spy) => spy.mock.calls.flat().join('\n'));
    return { stdout: stdout!, stderr: stderr!, exitCode: process.exitCode };
  } finally {
    out!.mockRestore();
    err!.mockRestore();
    process.exitCode = undefined;
  }
}

function filled({ config }: { config: ShardedKeyspacesConfig }): FakeRowTable {
  const table = new FakeRowTable(config);
  for (let id = 0; id < ROWS; id++) {
    const row = { day: '2020-07-09', id, body: `row ${id}` };
    table.insert({ ...row, ...shardColumns(config, row) });
  }
  return table;
}

const folder = mkdtempSync(join(tmpdir(), 'state-'));
const five = appOf(5);
const twenty = appOf(20);
const strayCount = (table: FakeRowTable) =>
  table.all.filter((row) => row.shard !== shardColumns(twenty.config, row).shard).length;

test('reshard rows moves each row to its shard by the counts of the app, and prints the number of moved rows', async () => {
  const table = filled(five);
  const strays = strayCount(table);
  const { stdout, stderr, exitCode } = await run(table, '--app', twenty.app);
  expect(stderr).toBe('tracker.blogs: rows belong to 1 shards of each value, 20 of 2020-07-09');
  // The number of rows varies: the command reads a row twice if it moves the row to a shard that it has not read yet.
  expect(stdout.replace(/\d+ rows/, 'rows')).toBe(
    `tracker.blogs: rows read, ${strays} in another shard than writers give them, 0 of these found by no query; ${strays} moved, 0 settled, 0 refused, 0 unverified`,
  );
  expect(exitCode).toBeUndefined();
  expect([table.all.length, strayCount(table)]).toEqual([ROWS, 0]);
});

test('reshard rows reads the same configuration from --config and from --app', async () => {
  const config = join(folder, 'config.json');
  writeFileSync(config, JSON.stringify(twenty.config));
  const [byApp, byFile] = [filled(five), filled(five)];
  await run(byApp, '--app', twenty.app);
  const client = Object.assign(byFile, { shutdown: async () => {} });
  const log = jest.spyOn(console, 'log').mockImplementation(() => {});
  const errors = jest.spyOn(console, 'error').mockImplementation(() => {});
  await reshard(['rows', '--help']);
  await reshardRowsOfTable(['--config', config, '--region', 'eu-west-1', '--json'], async () => client);
  const [[help], [report]] = log.mock.calls as [[string], [string]];
  log.mockRestore();
  errors.mockRestore();
  expect(help).toMatch(/^usage: even-shards reshard rows/);
  expect(JSON.parse(report)).toMatchObject({
    table: 'tracker.blogs',
    complete: true,
    strays: strayCount(filled(five)),
  });
  expect(byFile.all).toEqual(byApp.all);
});

test('reshard rows --dry-run moves no row', async () => {
  const table = filled(five);
  const { stdout } = await run(table, '--app', twenty.app, '--dry-run');
  expect(stdout).toContain(
    `${strayCount(table)} in another shard than writers give them, 0 of these found by no query`,
  );
  expect(table.sent.every((query) => query.startsWith('SELECT'))).toBe(true);
});

test('reshard rows stops after the current row when it receives a signal, and the next run continues from the state file', async () => {
  const table = filled(five);
  const state = join(folder, 'state');
  let moved = 0;
  table.after = (query) => {
    if (query.startsWith('DELETE') && ++moved === 20) process.emit('SIGTERM', 'SIGTERM');
  };
  const args = ['--app', twenty.app, '--state', state];
  const first = await run(table, ...args);
  expect(first.exitCode).toBe(143);
  expect(first.stdout).toContain('; 20 moved, 0 settled, 0 refused');
  expect(first.stderr).toContain('stopped before the end; run the command again to continue');
  expect(readFileSync(state, 'utf8')).toContain('resumePoint');
  const left = strayCount(table);
  expect(left).toBeGreaterThan(0);
  await expect(run(table, '--app', five.app, '--state', state)).rejects.toThrow(
    'belongs to another table, other counts, another segment, another partitioner, or a run with another --dry-run: name another file, or delete it to start again',
  );
  await expect(run(table, ...args, '--dry-run')).rejects.toThrow('or a run with another --dry-run');
  const second = await run(table, ...args);
  expect(second.stdout).toContain(`; ${20 + left} moved, 0 settled, 0 refused`);
  expect(second.exitCode).toBeUndefined();
  expect([table.all.length, strayCount(table), existsSync(state)]).toEqual([ROWS, 0, false]);
});

test('reshard rows ends with exit code 1 if it could not move a row', async () => {
  const table = filled(five);
  // As soon as a row is moved, writers with another shard count write the row in the old and in the new shard.
  table.after = (query) => {
    if (!query.startsWith('INSERT')) return;
    for (const row of table.all) table.insert({ ...row, body: `${row.body} again` });
  };
  expect((await run(table, '--app', twenty.app)).exitCode).toBe(1);
});

test('reshard rows prints the error of Cassandra, and shuts down the client', async () => {
  const table = filled(five);
  table.before = (query) => {
    if (query.includes('system.local')) return;
    throw Object.assign(new Error('no permission'), { name: 'ResponseError', code: 0x2100 });
  };
  await expect(run(table, '--app', twenty.app)).rejects.toThrow(
    '[CASSANDRA] cannot continue with tracker.blogs: no permission',
  );
});

test.each<[string[], string]>([
  [['--cassandra', 'x'], 'give KEYSPACE.TABLE'],
  [['a'], 'give --cassandra or --region, and not both'],
  [
    ['tracker.posts', '--app', five.app, '--region', 'y'],
    'declares tracker.blogs of Amazon Keyspaces, and not "tracker.posts"',
  ],
  [['a', '--config', 'x', '--region', 'y'], '--config names the table: leave KEYSPACE.TABLE out'],
  [['--config', '/none', '--region', 'y'], '--config must be a file with JSON: '],
  [
    ['tracker.blogs', '--app', five.app, '--region', 'y', '--moves-per-second', '0'],
    '--moves-per-second must be a number',
  ],
  [['tracker.blogs', '--app', five.app, '--region', 'y', '--segment', '1/1'], '--segment must be I/N'],
  [
    ['tracker.blogs', '--app', five.app, '--region', 'y', '--state', '/none/state'],
    '--state /none/state cannot be written: ',
  ],
  [
    ['tracker.blogs', '--app', five.app, '--region', 'y', '--state', join(five.app, 'manifest.json')],
    'is not a saved report of a run: ',
  ],
])('reshard rows rejects %j before it connects', async (args, message) => {
  const connect = jest.fn();
  const moving = reshardRowsOfTable(args, connect);
  await expect(moving).rejects.toThrow(UsageError);
  await expect(moving).rejects.toThrow(message);
  expect(connect).not.toHaveBeenCalled();
});

test.each(['a:65536', 'http://a:1'])('reshard rows rejects the address %j', async (address) => {
  const moving = reshardRowsOfTable(['tracker.blogs', '--app', five.app, '--cassandra', address]);
  await expect(moving).rejects.toThrow('--cassandra must be HOST or HOST:PORT');
});

test('reshard rows prints an address that refuses the connection', async () => {
  const moving = reshardRowsOfTable(['tracker.blogs', '--app', five.app, '--cassandra', '127.0.0.1:1']);
  await expect(moving).rejects.toThrow(
    '[CASSANDRA] cannot connect to a Cassandra at 127.0.0.1:1: connect ECONNREFUSED',
  );
});
