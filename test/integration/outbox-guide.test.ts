import { execSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import { localClients } from '../../bin/local/emulators/clients';
import { deaggregate } from '../../lib/core';
import { describeOnPostgres } from '../support/postgres/describe-on-postgres';
import { PostgresServer } from '../support/postgres/postgres-server';
import { synthesizeReferenceApp } from '../support/reference-app';

/** Runs the commands, statements and code of docs/guides/outbox.md, from an empty database to events in a stream. */

const ROOT = join(__dirname, '../..');
const GUIDE = readFileSync(join(ROOT, 'docs/guides/outbox.md'), 'utf8');

/** The first code block of a language after a heading. */
function example(heading: string, language: string): string {
  const [, code] = GUIDE.slice(GUIDE.indexOf(heading)).split(new RegExp(`^\`\`\`${language}\n|^\`\`\`$`, 'm'));
  return code!.trim();
}

describeOnPostgres('the steps of the outbox guide', () => {
  let server: PostgresServer;
  let app: string;

  beforeAll(async () => {
    server = await PostgresServer.start();
    app = synthesizeReferenceApp();
  }, 90_000);
  afterAll(() => server?.stop());

  test('the examples of the guide lead from an empty database to events in the stream of a local run', async () => {
    const url = await server.createDatabase('empty');
    const owner = await server.connect(url);
    const [print, pipe] = example('## Make the schema', 'console').replace(/^\$ /, '').split(' | psql ');
    expect(pipe).toBe('-1 -v ON_ERROR_STOP=1 "$DATABASE_URL"');
    await owner.query(execSync(print!, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
    await owner.query('CREATE TABLE repositories (name text)');
    for (const role of ['app', 'relay']) await owner.query(`CREATE ROLE ${role} LOGIN PASSWORD '${role}'`);
    await owner.query(`SELECT outbox.grant_put('app'); SELECT outbox.grant_relay('relay')`);
    await owner.query('GRANT INSERT ON repositories TO app');

    const local = spawn(process.execPath, ['dist/bin/even-shards.js', 'local', '--app', app, '--serve', '--json'], {
      cwd: ROOT,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const [line] = await once(createInterface({ input: local.stdout }), 'line');
    const { endpoints, streams } = JSON.parse(String(line));
    const [streamName] = Object.values<string>(streams);

    const relay = join(ROOT, 'dist/test/guide-relay.mjs');
    await build({
      stdin: { contents: relayOfTheGuide(streamName!), resolveDir: ROOT, loader: 'ts' },
      outfile: relay,
      bundle: true,
      packages: 'external',
      platform: 'node',
      format: 'esm',
      logLevel: 'silent',
    });
    const relaying = spawn(process.execPath, [relay], {
      stdio: ['ignore', 'inherit', 'inherit'],
      env: {
        ...process.env,
        DATABASE_URL: server.urlOf('empty', { user: 'relay', password: 'relay' }),
        AWS_ENDPOINT_URL_KINESIS: endpoints.kinesis,
        AWS_REGION: 'us-east-1',
        AWS_ACCESS_KEY_ID: 'any',
        AWS_SECRET_ACCESS_KEY: 'any',
      },
    });
    try {
      const application = await server.connect(server.urlOf('empty', { user: 'app', password: 'app' }));
      await application.query(example('## Put events', 'sql'));
      await application.end();
      expect(await firstEvent(endpoints, streamName!)).toEqual({
        partitionKey: 'brandur/my-project',
        data: { resource: 'repository', action: 'create' },
      });
      relaying.kill('SIGTERM');
      expect(await once(relaying, 'exit')).toEqual([0, null]);
      const { rows } = await owner.query('SELECT waiting_rows FROM outbox.lag()');
      expect(rows).toEqual([{ waiting_rows: '0' }]);
    } finally {
      relaying.kill('SIGKILL');
      local.kill('SIGTERM');
      await owner.end();
    }
  }, 120_000);

  /** The code of the guide, changed to use the stream of the local run and the client options that emulators need. */
  function relayOfTheGuide(streamName: string): string {
    const code = example('## Relay in a process', 'ts')
      .replace("streamName: 'Events'", `streamName: '${streamName}'`)
      .replace(
        'new Kinesis({ maxAttempts: 1 })',
        'new Kinesis({ maxAttempts: 1, requestHandler: new NodeHttpHandler() })',
      );
    return `import { NodeHttpHandler } from '@smithy/node-http-handler';\n${code}\nprocess.exit();`;
  }
});

async function firstEvent(endpoints: { kinesis: string; dynamodb: string; lambda: string }, StreamName: string) {
  const { kinesis } = localClients(endpoints);
  for (let tries = 0; tries < 300; tries++) {
    const { Shards = [] } = await kinesis.listShards({ StreamName });
    for (const { ShardId } of Shards) {
      const start = await kinesis.getShardIterator({ StreamName, ShardId, ShardIteratorType: 'TRIM_HORIZON' });
      const { Records = [] } = await kinesis.getRecords({ ShardIterator: start.ShardIterator });
      for (const { PartitionKey, Data } of Records) {
        const [event] = deaggregate({ partitionKey: PartitionKey!, data: Data! });
        return { partitionKey: event!.partitionKey, data: JSON.parse(Buffer.from(event!.data).toString()) };
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('no event arrived in the stream');
}
