import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import { type LocalClients, localClients } from '../../bin/local/emulators/clients';
import type { Emulator } from '../../bin/local/emulators/emulator-thread';
import { startKinesisEmulator } from '../../bin/local/emulators/kinesis-emulator';
import { Repositories, type RepositoryEvent } from '../../examples/repository-outbox/repositories';
import { deaggregate } from '../../lib/core';
import { migrateOutbox } from '../../lib/core/outbox';
import { type LoopbackServer, SECRET, startJsonService } from '../support/loopback-server';
import { describeOnPostgres } from '../support/postgres/describe-on-postgres';
import { PostgresServer } from '../support/postgres/postgres-server';
import { until } from '../support/postgres/relays';
import { hasOpenssl, speakTls } from '../support/postgres/tls';
import { withoutDuplicates } from '../support/without-duplicates';

/** Tests examples/repository-outbox on a real Postgres and on the Kinesis emulator of `even-shards local`. */

const ROOT = join(__dirname, '../..');
const STREAM = 'Events';
const BUNDLE = join(ROOT, 'dist', 'lambda', 'outbox-relay');

describeOnPostgres('the outbox example', () => {
  let server: PostgresServer;
  let kinesis: Emulator;
  let secrets: LoopbackServer;
  let clients: LocalClients;
  let url: string;
  let repositories: Repositories;
  let databases = 0;

  beforeAll(async () => {
    [server, kinesis] = await Promise.all([PostgresServer.start(), startKinesisEmulator()]);
    clients = localClients({ kinesis: kinesis.endpoint, dynamodb: kinesis.endpoint, lambda: kinesis.endpoint });
    await clients.kinesis.createStream({ StreamName: STREAM, ShardCount: 2 });
    await until(async () => {
      const { StreamDescriptionSummary } = await clients.kinesis.describeStreamSummary({ StreamName: STREAM });
      return StreamDescriptionSummary?.StreamStatus === 'ACTIVE';
    });
    secrets = await startJsonService(() => SECRET);
  }, 90_000);
  afterAll(async () => {
    clients?.kinesis.destroy();
    clients?.dynamodb.destroy();
    secrets?.stop();
    await Promise.all([server?.stop(), kinesis?.stop()]);
  });
  beforeEach(async () => {
    url = await server.createDatabase(`example_${databases++}`);
    repositories = new Repositories(server.pool(url));
    await repositories.createTable();
  });

  /** The events of a repository that a consumer of the stream receives. */
  async function seen(repository: string): Promise<RepositoryEvent[]> {
    const { Shards = [] } = await clients.kinesis.listShards({ StreamName: STREAM });
    const events: RepositoryEvent[] = [];
    for (const { ShardId } of Shards) {
      const { ShardIterator } = await clients.kinesis.getShardIterator({
        StreamName: STREAM,
        ShardId: ShardId!,
        ShardIteratorType: 'TRIM_HORIZON',
      });
      const { Records = [] } = await clients.kinesis.getRecords({ ShardIterator });
      const records = Records.flatMap(({ PartitionKey, Data }) =>
        deaggregate({ partitionKey: PartitionKey!, data: Buffer.from(Data!) }),
      );
      for (const { partitionKey, data } of withoutDuplicates(records)) {
        if (partitionKey === repository) events.push(JSON.parse(Buffer.from(data).toString()));
      }
    }
    return events;
  }

  async function changeEverything(name: string): Promise<void> {
    await repositories.create(name, 'first');
    await repositories.update(name, 'second');
    await expect(repositories.destroy(`${name}-that-is-not-there`)).rejects.toThrow('there is no repository');
    await expect(repositories.create(name, 'again')).rejects.toThrow('duplicate key');
    await repositories.destroy(name);
  }

  const LIFE = ['create', 'update', 'destroy'];
  const actions = (events: RepositoryEvent[]) => events.map(({ action }) => action);

  test('a relay process migrates the database, sends the events of a repository in order, and ends at SIGTERM', async () => {
    const relay = join(ROOT, 'dist', 'test', 'example-relay.js');
    await build({
      entryPoints: [join(ROOT, 'examples', 'repository-outbox', 'relay.ts')],
      outfile: relay,
      bundle: true,
      platform: 'node',
      target: 'node20',
      alias: {
        'cdk-even-shards/outbox': join(ROOT, 'lib/core/outbox/index.ts'),
        'cdk-even-shards/producer': join(ROOT, 'lib/core/producer/index.ts'),
      },
      external: ['pg-native'],
      mainFields: ['module', 'main'],
      logLevel: 'silent',
    });
    const child: ChildProcess = spawn(process.execPath, [relay], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        ...process.env,
        DATABASE_URL: url,
        STREAM_NAME: STREAM,
        AWS_REGION: 'us-east-1',
        AWS_ACCESS_KEY_ID: 'local',
        AWS_SECRET_ACCESS_KEY: 'local',
        AWS_ENDPOINT_URL_KINESIS: kinesis.endpoint,
      },
    });
    let output = '';
    child.stdout!.on('data', (text) => {
      output += text;
    });
    try {
      await until(() => output.includes('relaying'));
      await changeEverything('brandur/my-project');
      await until(async () => (await seen('brandur/my-project')).length === 3);
    } finally {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    expect(actions(await seen('brandur/my-project'))).toEqual(LIFE);
    expect(await seen('brandur/my-project-that-is-not-there')).toEqual([]);
    expect(output).toContain('relayed 3');
    expect(child.exitCode).toBe(0);
  }, 60_000);

  /** The environment variables that the construct sets for the function. */
  function functionEnvironment(host: string): Record<string, string> {
    const { port, pathname } = new URL(url);
    return {
      EVEN_SHARDS_STREAM_NAME: STREAM,
      EVEN_SHARDS_AGGREGATION: 'true',
      EVEN_SHARDS_DATABASE_HOST: host,
      EVEN_SHARDS_DATABASE_PORT: port,
      EVEN_SHARDS_DATABASE_NAME: pathname.slice(1),
      EVEN_SHARDS_DATABASE_SECRET_ARN: 'arn:aws:secretsmanager:us-east-1:000000000000:secret:relay',
      AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets.endpoint,
    };
  }

  async function migrate(): Promise<void> {
    const client = await server.connect(url);
    await migrateOutbox(client);
    await client.end();
  }

  test('commits are put under the key of their repository, and a commit of a destroyed repository is rejected', async () => {
    await migrate();
    await repositories.create('brandur/my-project', 'mine');
    await repositories.commit('brandur/my-project', 'c0ab1e5c');
    await repositories.destroy('brandur/my-project');
    await expect(repositories.commit('brandur/my-project', 'late')).rejects.toThrow('there is no repository');
    const { rows } = await server
      .pool(url)
      .query(`SELECT partition_key AS key, data::json->>'action' AS action FROM outbox.message ORDER BY id`);
    const key = 'brandur/my-project';
    expect(rows).toEqual(['create', 'commit', 'destroy'].map((action) => ({ key, action })));
  });

  /** Runs the bundle of the function in its own process, because Node.js reads NODE_EXTRA_CA_CERTS at its start. Returns the summary or the error message. */
  async function relayOverTls(environment: Record<string, string>): Promise<unknown> {
    const invoke = `import(${JSON.stringify(join(BUNDLE, 'index.js'))})
      .then(({ handler }) => handler({}, { getRemainingTimeInMillis: () => 13_000 }))
      .then((summary) => console.log(JSON.stringify(summary)), (error) => console.log(JSON.stringify(error.message)))
      .then(() => process.exit())`;
    const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;
    const child = spawn(process.execPath, ['-e', invoke], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        ...inherited,
        ...functionEnvironment('localhost'),
        AWS_ENDPOINT_URL_KINESIS: kinesis.endpoint,
        AWS_REGION: 'us-east-1',
        AWS_ACCESS_KEY_ID: 'local',
        AWS_SECRET_ACCESS_KEY: 'local',
        AWS_LAMBDA_FUNCTION_NAME: 'Relay',
        ...environment,
      },
    });
    const lines = createInterface({ input: child.stdout });
    let last = '';
    for await (const line of lines) last = line;
    return JSON.parse(last);
  }

  const testWithOpenssl = hasOpenssl ? test : test.skip;
  testWithOpenssl(
    'the function relays over TLS only from a server whose certificate authority it trusts',
    async () => {
      await migrate();
      await changeEverything('brandur/tls');
      const client = await server.connect(url);
      const authority = await speakTls(client);
      await client.end();
      // The deployed function trusts only the certificate authorities of RDS, which its environment names.
      expect(await relayOverTls({ NODE_EXTRA_CA_CERTS: authority })).toMatchObject({ relayed: 3 });
      expect(await relayOverTls({})).toMatch(/certificate/);
    },
    90_000,
  );
});
