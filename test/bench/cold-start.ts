import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { buildSync } from 'esbuild';
import { migrateOutbox } from '../../lib/core/outbox';
import { CassandraStub } from '../support/fakes/cassandra-stub';
import { FakeCassandra } from '../support/fakes/fake-cassandra';
import { PostgresServer } from '../support/postgres/postgres-server';
import { Dice } from '../support/random-json';
import { rounded } from '../support/tables/producer/table';
import { BLOGS_TYPES, SUBJECTS, type Subject, serviceAnswer } from './cold-start/subjects';

/**
 * Measures the first invocation of each function of `dist/lambda`, from the moment when its code begins to load to its response. The
 * baseline is a bundle with only the SDK clients and the driver of the function, which sends the same first requests. Each run is a new
 * process, and runs of the function and of the baseline alternate. Prints the median. A server in this process emulates AWS, and
 * a stub emulates Amazon Keyspaces.
 *
 *     npm run build && npm run bench cold-start [runs] [part of a function's name...]
 */
const [runs = '15', ...parts] = process.argv.slice(2);
const RUNS = Number(runs);
const HEADER = ['function', 'clients: load', 'CPU', 'wall', 'function: load', 'CPU', 'wall', 'CPU ratio', 'wall ratio'];

const CHILD = `
  const [file, event, endsWith] = process.argv.slice(1);
  const context = { getRemainingTimeInMillis: () => 60_000, functionName: 'f', awsRequestId: 'r', invokedFunctionArn: 'arn:aws:lambda:us-east-1:123456789012:function:f' };
  // Opens the output streams before the measurement, as the runtime of Lambda does before it loads a function.
  void [process.stdout, process.stderr];
  const [cpu, begun] = [process.cpuUsage(), performance.now()];
  const taken = () => { const { user, system } = process.cpuUsage(cpu); return [(user + system) / 1000, performance.now() - begun]; };
  const { handler } = require(file);
  const loaded = taken();
  const end = () => {
    console.log('taken ' + JSON.stringify([...loaded, ...taken()]));
    process.exit();
  };
  if (endsWith) require('node:diagnostics_channel').subscribe('http.client.response.finish', ({ request }) => {
    if (request.getHeader('x-amz-target') === endsWith) end();
  });
  handler(JSON.parse(event), context).then(end, (error) => { console.error(error); process.exit(1); });
`;

interface Taken {
  readonly load: number;
  readonly cpu: number;
  readonly wall: number;
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'even-shards-cold-start-'));
  const login = { username: '', password: '' };
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const { contentType, body } = serviceAnswer(String(request.headers['x-amz-target']), login);
      response.writeHead(200, { 'content-type': contentType }).end(body);
    });
  });
  const postgres = await PostgresServer.start();
  const keyspaces = await keyspacesStub();
  try {
    const url = new URL(await postgres.createDatabase('bench'));
    const client = await postgres.connect(url.href);
    await migrateOutbox(client);
    Object.assign(login, { username: url.username, password: url.password });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const environment = environmentOf((server.address() as AddressInfo).port, keyspaces.port, url);
    const rows: string[][] = [];
    for (const subject of SUBJECTS.filter(
      ({ name }) => parts.length === 0 || parts.some((part) => name.includes(part)),
    )) {
      const { name, program, clients, before } = subject;
      const deployed =
        program === undefined
          ? join(process.cwd(), 'dist/lambda', name, 'index.js')
          : bundled(program, join(folder, `${name}.js`));
      const files = [bundled(clients, join(folder, `clients of ${name}.js`)), deployed];
      const runs: Taken[][] = files.map(() => []);
      for (let run = 0; run < RUNS; run++) {
        for (const [index, file] of files.entries()) {
          if (before !== undefined) await client.query(before);
          runs[index]!.push(await invoked(file, subject, environment));
        }
      }
      rows.push(rowOf(name, runs as [Taken[], Taken[]]));
    }
    await client.end();
    console.log(`\nmilliseconds of a first invocation; the middle of ${RUNS} processes in turn\n`);
    console.table([HEADER, ...rows]);
  } finally {
    await postgres.stop();
    keyspaces.stop();
    server.close();
    rmSync(folder, { recursive: true });
  }
}

/** Starts a stub of Amazon Keyspaces whose table has no rows. */
function keyspacesStub(): Promise<CassandraStub> {
  const compare = (a: string, b: string) => Number(a) - Number(b);
  const table = new FakeCassandra({
    partitionKey: ['author', 'shard'],
    clusteringColumns: [{ name: 'number', order: 'ASC', compare }],
  });
  return CassandraStub.start(table, {
    types: BLOGS_TYPES,
    region: 'us-east-1',
    dice: new Dice(Math.random),
    signsIn: false,
  });
}

function environmentOf(port: number, keyspacesPort: number, { hostname, port: databasePort }: URL): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_SESSION_TOKEN: 'local',
    AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
    AWS_LAMBDA_FUNCTION_NAME: 'f',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '1024',
    NODE_NO_WARNINGS: '1',
    EVEN_SHARDS_CASSANDRA: `127.0.0.1:${keyspacesPort}`,
    EVEN_SHARDS_DATABASE_HOST: hostname,
    EVEN_SHARDS_DATABASE_PORT: databasePort,
    EVEN_SHARDS_DATABASE_NAME: 'bench',
  };
}

/** Bundles a program as `npm run build:lambda` bundles functions. */
function bundled(program: string, outfile: string): string {
  buildSync({
    stdin: { contents: program, resolveDir: process.cwd(), loader: 'ts' },
    bundle: true,
    minifyWhitespace: true,
    minifySyntax: true,
    platform: 'node',
    target: 'node20',
    mainFields: ['module', 'main'],
    legalComments: 'none',
    logLevel: 'warning',
    outfile,
  });
  return outfile;
}

async function invoked(file: string, subject: Subject, environment: NodeJS.ProcessEnv): Promise<Taken> {
  const child = spawn(process.execPath, ['-e', CHILD, file, JSON.stringify(subject.event), subject.endsWith ?? ''], {
    env: { ...environment, ...subject.environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let taken: number[] | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith('taken ')) taken = JSON.parse(line.slice('taken '.length));
  }
  if (taken === undefined) throw new Error(`${file} has not responded`);
  const [load, , cpu, wall] = taken as [number, number, number, number];
  return { load, cpu, wall };
}

function rowOf(name: string, [clients, ours]: [Taken[], Taken[]]): string[] {
  const middle = (runs: Taken[], of: keyof Taken) =>
    runs.map((run) => run[of]).sort((a, b) => a - b)[runs.length >> 1]!;
  const ratio = (of: keyof Taken) => rounded(middle(ours, of) / middle(clients, of), 2);
  const times = [clients, ours].flatMap((runs) =>
    (['load', 'cpu', 'wall'] as const).map((of) => rounded(middle(runs, of))),
  );
  return [name, ...times, ratio('cpu'), ratio('wall')];
}

void main();
