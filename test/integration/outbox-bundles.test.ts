import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { describeOnPostgres } from '../support/postgres/describe-on-postgres';
import { PostgresServer } from '../support/postgres/postgres-server';

const ROOT = join(__dirname, '../..');

/** Migrates an empty database, puts one event, relays the event, and prints the records that the stream received. */
const APPLICATION = `
import { OutboxRelay, outboxMigrationsOf } from 'cdk-even-shards/outbox';
import { Client } from 'pg';

async function main() {
  const client = new Client({ connectionString: process.env.DATABASE_URL });
  await client.connect();
  for (const { sql } of outboxMigrationsOf('events')) await client.query(sql);
  await client.query("SELECT events.put('key', 'created'::text)");
  const ending = new AbortController();
  const stream = {
    putAll: async (rows, observer) => {
      for await (const row of rows) {
        console.log(row.partitionKey + ': ' + Buffer.from(row.data));
        observer.delivered(0, row, { shardId: 'shard', sequenceNumber: '1', attempts: 1 });
        ending.abort();
      }
      return { delivered: 1, rejected: 0 };
    },
  };
  await new OutboxRelay(client, stream, { schema: 'events' }).run({ signal: ending.signal });
  await client.end();
}

main();
`;

describeOnPostgres('an application that esbuild bundles with its outbox', () => {
  let server: PostgresServer;

  beforeAll(async () => {
    server = await PostgresServer.start();
  }, 60_000);
  afterAll(() => server?.stop());

  test.each([
    ['an ES module', 'esm', 'mjs'],
    ['CommonJS', 'cjs', 'cjs'],
  ] as const)(
    'migrates the database and relays an event as %s',
    async (_, format, extension) => {
      const database = await server.createDatabase(`bundled_${format}`);
      const outfile = join(ROOT, `dist/test/outbox-bundle.${extension}`);
      await build({
        stdin: { contents: APPLICATION, resolveDir: ROOT },
        outfile,
        bundle: true,
        external: ['pg'],
        platform: 'node',
        format,
        logLevel: 'error',
      });
      const env = { ...process.env, DATABASE_URL: database };
      const { stdout } = await promisify(execFile)(process.execPath, [outfile], { env });
      expect(stdout).toBe('key: created\n');
    },
    60_000,
  );
});
