import {
  type ChildProcess,
  type ChildProcessByStdio,
  type ChildProcessWithoutNullStreams,
  type SpawnOptionsWithStdioTuple,
  spawn,
  spawnSync,
} from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { synthesizeConsumersApp } from '../../support/stacks/consumers-app';
import { synthesizeOrdersApp } from '../../support/stacks/orders-app';

const CLI = join(__dirname, '../../../dist/bin/even-shards.js');
const code = mkdtempSync(join(tmpdir(), 'orders-code-'));
writeFileSync(join(code, 'index.js'), 'exports.handler = async (event) => { console.log("invoked"); return event; };');
const app = synthesizeOrdersApp({ code, queueVariable: true });

function run(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, ...args], { encoding: 'utf8' });
  return { status, stdout, stderr };
}

/**
 * The processes that tests have started. A failed test leaves its process running, and Jest would wait for this
 * process.
 */
const started: ChildProcess[] = [];
afterAll(() => {
  for (const child of started) child.kill('SIGKILL');
});

/** Starts `local --serve`. */
function startServing(...args: string[]): ChildProcessWithoutNullStreams {
  const child = spawn(process.execPath, [CLI, 'local', '--app', app, '--serve', ...args]);
  started.push(child);
  return child;
}

/** Starts `local --serve --json` and waits for its first line. */
async function serve(...args: string[]) {
  const child = startServing('--json', ...args);
  const errors = createInterface({ input: child.stderr });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  return { child, errors, ready: JSON.parse(line) };
}

/** Options for a process that a test can kill together with its children. */
const IN_A_GROUP: SpawnOptionsWithStdioTuple<'ignore', 'pipe', 'ignore'> = {
  detached: true,
  stdio: ['ignore', 'pipe', 'ignore'],
};

const hasAwsCli = spawnSync('aws', ['--version']).status === 0;
if (!hasAwsCli) console.log('SKIPPED: the command for the AWS CLI, because the AWS CLI is not installed');

/** The environment without any variable for AWS. */
function withoutAws(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('AWS_')));
}

async function end(child: ChildProcess, signal: NodeJS.Signals) {
  child.kill(signal);
  const [status] = await once(child, 'exit');
  return status;
}

test.each<[string, string, string[]]>([
  [
    'in a command',
    'JSON.stringify = () => { throw new TypeError("injected"); }',
    ['plan', '--writes-per-second', '9', '--json'],
  ],
  [
    'outside the call of a command',
    'setTimeout(() => { throw new TypeError("injected"); })',
    ['local', '--app', app, '--serve'],
  ],
])(
  'an internal error %s ends with exit code 70, so that no script reads it as a result of the command',
  (_, fault, args) => {
    const preload = join(code, 'preload.cjs');
    writeFileSync(preload, fault);
    const { status, stderr } = spawnSync(process.execPath, ['--require', preload, CLI, ...args], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([
      70,
      expect.stringMatching(/^even-shards: internal error: TypeError: injected\n {2}.* at /),
    ]);
  },
);

test('local --app – the assembly is missing – ends with exit code 1 and names the command that creates it', () => {
  expect(run('local', '--app', '/no/such/cdk.out')).toEqual({
    status: 1,
    stdout: '',
    stderr: expect.stringMatching(
      /^even-shards: \[CLOUD_ASSEMBLY\] no manifest\.json in \/no\/such\/cdk\.out: run `npx cdk synth` first.*\n$/,
    ),
  });
});

test('local --port – another process uses the port – ends with exit code 1 and names the port', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as { port: number };
  const { status, stderr } = run('local', '--app', app, '--port', String(port));
  expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining(`port ${port} is in use`) });
  other.close();
});

test('local without --serve runs the sample, lists what it does not emulate, and ends', () => {
  const { status, stdout, stderr } = run('local', '--app', app, '--limits');
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toMatch(/throttled: 0 records of streams, 0 writes of tables and indexes\n$/);
  expect(stdout).toContain('stream Orders/Events, 4 shards');
  expect(stdout).toContain('left out: Orders/Queue (AWS::SQS::Queue), not emulated');
  expect(stdout).toMatch(
    /^not set: QUEUE_URL of Orders\/Writer\/Function, Queue\w+ is an AWS::SQS::Queue, which is not emulated$/m,
  );
});

test('local ends without an error message if the reader of its output closes the pipe', async () => {
  const child = spawn(process.execPath, [CLI, 'local', '--app', app]);
  const errors: string[] = [];
  child.stderr.on('data', (chunk) => errors.push(String(chunk)));
  child.stdout.once('data', () => child.stdout.destroy());
  const [status] = await once(child, 'close');
  expect({ status, errors }).toEqual({ status: 141, errors: [] });
});

test('local prints the name of an emulator that fails during the deployment, and ends', () => {
  const project = mkdtempSync(join(tmpdir(), 'broken-emulator-'));
  const emulator = join(project, 'node_modules/dynalite');
  mkdirSync(emulator, { recursive: true });
  const source = 'module.exports = () => require("node:http").createServer(() => process.exit(3));';
  writeFileSync(join(emulator, 'index.js'), source);
  const args = [CLI, 'local', '--app', app];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: project, encoding: 'utf8' });
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: 'even-shards: [EMULATOR_FAILED] dynalite ended with exit code 3\n',
  });
});

test('a command after -- receives the local endpoints and function names, and its exit code becomes the exit code of the run', () => {
  const program = `
    const { AWS_ENDPOINT_URL_DYNAMODB: endpoint, WRITER: writer, AWS_PROFILE: profile, AWS_SESSION_TOKEN: token } = process.env;
    console.log(JSON.stringify({ endpoint, writer, profile, token }));
    process.exit(7);`;
  // If the environment contains a profile, the SDK ignores the credentials of the local run.
  const accountVariables = { AWS_PROFILE: 'production', AWS_SESSION_TOKEN: 'token' };
  const { status, stdout } = spawnSync(
    process.execPath,
    [CLI, 'local', '--app', app, '--', process.execPath, '-e', program],
    {
      encoding: 'utf8',
      env: { ...process.env, ...accountVariables },
    },
  );
  expect(status).toBe(7);
  expect(JSON.parse(stdout)).toEqual({
    endpoint: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    writer: expect.stringMatching(/^Orders-WriterFunction/),
  });
});

test('local – no command after the argument -- – prints an error on standard error, and ends with exit code 2', () => {
  const { status, stdout, stderr } = run('local', '--app', app, '--');
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toContain('-- must be followed by a command');
});

test('local waits at its end for functions that read a stream, and prints how many records they handled', () => {
  const consumers = synthesizeConsumersApp();
  const input = join(consumers, 'events.ndjson');
  writeFileSync(input, Array.from({ length: 20 }, (_, n) => `{"account":"a-${n % 4}","n":${n}}\n`).join(''));
  const { status, stdout, stderr } = run('local', '--app', consumers, '--input', input, '--partition-key', 'account');
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toMatch(/^function App\/Handler reads stream App\/Events$/m);
  expect(stdout).toMatch(/^App\/Handler has handled [1-9]\d* records of App\/Events in [1-9]\d* batch(es)?$/m);
}, 60_000);

test('local --serve prints working invocations of functions that read a stream, and the command that lists parked keys', async () => {
  const consumers = synthesizeConsumersApp();
  const child = spawn(process.execPath, [CLI, 'local', '--app', consumers, '--serve']);
  started.push(child);
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  while (!lines.some((line) => line.includes('fileb://'))) await new Promise((resolve) => setTimeout(resolve, 50));
  const [, url, body] = /curl (\S+Handler\S+) -d '(.*)'/.exec(lines.join('\n'))!;
  const response = await fetch(url!, { method: 'POST', body: body! });
  expect(await response.json()).toMatchObject({ keys: 0, stillParked: 0 });
  const parked = lines
    .find((line) => line.startsWith('npx even-shards parked '))!
    .split(' ')
    .slice(2);
  const { status, stdout } = await runWithout(withoutAws(), ...parked);
  expect({ status, stdout }).toEqual({ status: 0, stdout: 'no key is parked\n' });
  await end(child, 'SIGTERM');
}, 60_000);

/** Runs a command asynchronously. During a synchronous call, this process could not read the output of `local --serve`. */
async function runWithout(env: NodeJS.ProcessEnv, ...args: string[]) {
  const child = spawn(process.execPath, [CLI, ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const [stdout, [status]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return { status, stdout };
}

test('local --serve prints working invocations for curl and for the AWS CLI', async () => {
  const child = startServing();
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  while (!lines.some((line) => line.includes('fileb://'))) await new Promise((resolve) => setTimeout(resolve, 50));
  const invocations = lines.filter((line) => line.startsWith('curl '));
  expect(invocations).toHaveLength(2);
  for (const invocation of invocations) {
    const [, url, body] = /^curl (\S+) -d '(.*)'$/.exec(invocation)!;
    const response = await fetch(url!, { method: 'POST', body: body! });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-amz-function-error')).toBeNull();
  }
  const [from, to] = ['# with the AWS CLI', 'fileb://'].map((words) => lines.findIndex((line) => line.includes(words)));
  const command = lines.slice(from! + 1, to! + 1).join('\n');
  if (hasAwsCli) {
    const name = /functions\/(Orders-Writer[\w-]+)/.exec(invocations.join('\n'))![1]!;
    // Node.js gives the shell a socket as standard output, and a program cannot open a socket as /dev/stdout. The pipe
    // to `cat` prevents this.
    const line = `${command.replace(' NAME ', ` ${name} `)} | cat`;
    const shell = spawn('sh', ['-c', line], { env: withoutAws(), stdio: 'pipe' });
    const [answer, errors] = await Promise.all([text(shell.stdout), text(shell.stderr)]);
    expect(answer + errors).toContain('"StatusCode": 200');
  }
  await end(child, 'SIGTERM');
}, 60_000);

test('local --serve ends when npx is killed, although npx starts the command through a shell', async () => {
  const project = mkdtempSync(join(tmpdir(), 'npx-'));
  mkdirSync(join(project, 'node_modules/.bin'), { recursive: true });
  symlinkSync(CLI, join(project, 'node_modules/.bin/even-shards'));
  writeFileSync(join(project, 'package.json'), '{}');
  const npx = join(dirname(process.env.npm_execpath ?? npmCli()), 'npx-cli.js');
  const command = [npx, '--no', '--', 'even-shards', 'local', '--app', app, '--serve', '--json'];
  await expectToEndWith(spawn(process.execPath, command, { ...IN_A_GROUP, cwd: project }));
}, 60_000);

/** The npm that comes with this Node.js. */
function npmCli(): string {
  return spawnSync('npm', ['root', '--global'], { encoding: 'utf8' }).stdout.trim().concat('/npm/bin/npm-cli.js');
}

/**
 * Expects the process of `local --serve` to end soon after the process that started it is killed. Always kills the
 * process group at the end, so that a failed test does not wait.
 */
async function expectToEndWith(launcher: ChildProcessByStdio<null, Readable, null>): Promise<void> {
  try {
    const [line] = await once(createInterface({ input: launcher.stdout }), 'line');
    const { endpoints, console: url } = JSON.parse(line);
    const ports = [...Object.values<string>(endpoints), url].map((each) => Number(new URL(each).port));
    expect(await openOf(ports)).toEqual(ports);
    await end(launcher, 'SIGKILL');
    for (let attempt = 0; attempt < 100 && (await openOf(ports)).length > 0; attempt++) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(await openOf(ports)).toEqual([]);
  } finally {
    launcher.stdout.destroy();
    killGroup(launcher.pid!);
  }
}

async function openOf(ports: readonly number[]): Promise<number[]> {
  const areOpen = await Promise.all(ports.map(isOpen));
  return ports.filter((_, index) => areOpen[index]);
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', () => resolve(false)).once('connect', () => resolve(true));
    socket.once('connect', () => socket.destroy());
  });
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // ESRCH: the process group has already ended.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

const FOREIGN: [string, string, Record<string, string>][] = [
  ['a page of another site', 'POST', { origin: 'https://attacker.example' }],
  ['a page without an address', 'POST', { origin: 'null' }],
  ['a preflight request of another site', 'OPTIONS', { origin: 'https://attacker.example' }],
  ['a foreign host name that resolves to this machine', 'POST', { host: 'attacker.example' }],
  ['a host name that begins like this machine', 'POST', { host: '127.0.0.1.attacker.example' }],
];

describe('a run with --serve --json --logs --limits', () => {
  let child: ChildProcess;
  let errors: Interface;
  let ready: Awaited<ReturnType<typeof serve>>['ready'];
  beforeAll(async () => {
    ({ child, errors, ready } = await serve('--logs', '--limits'));
  }, 60_000);

  test('prints the endpoints and names of all resources in one line, and serves them', async () => {
    expect(ready).toEqual({
      ready: true,
      endpoints: {
        kinesis: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
        dynamodb: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
        lambda: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      },
      console: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{24}\/$/),
      functions: {
        'Orders/Writer/Function': expect.stringMatching(/^Orders-WriterFunction/),
        'AReports/Reader/Function': expect.stringMatching(/^AReports-ReaderFunction/),
      },
      streams: { 'Orders/Events': expect.stringMatching(/^Orders-Events/), 'Beta/Archive/Events': 'archive' },
      tables: { 'Orders/Table': expect.stringMatching(/^Orders-Table/) },
      indexes: {},
    });
    const logged = new Promise<string>((resolve) => {
      errors.on('line', (line) => {
        if (line.includes('invoked')) resolve(line);
      });
    });
    const name = ready.functions['Orders/Writer/Function'];
    const url = `${ready.endpoints.lambda}/2015-03-31/functions/${name}/invocations`;
    const response = await fetch(url, { method: 'POST', body: '{"orders":1}' });
    expect(await response.json()).toEqual({ orders: 1 });
    expect(await logged).toBe('[Orders/Writer/Function] invoked');
  });

  test('rejects requests of web pages and requests for other hosts on every port', async () => {
    const endpoints = [...Object.values<string>(ready.endpoints), ready.console].map((url) =>
      Number(new URL(url).port),
    );
    const ports = process.platform === 'linux' ? listeningPorts(child.pid!) : endpoints;
    expect(ports).toEqual(expect.arrayContaining(endpoints));
    for (const port of ports) {
      const own = await statusOf(port, 'POST', {});
      expect({ port, own: own.status === 403 }).toEqual({ port, own: false });
      for (const [what, method, headers] of FOREIGN) {
        const { status, allowed } = await statusOf(port, method, headers);
        expect({ port, what, status, allowed }).toEqual({ port, what, status: 403, allowed: undefined });
      }
    }
  }, 60_000);

  test('continues after aborted requests', async () => {
    const { port } = new URL(ready.endpoints.dynamodb);
    for (let attempt = 0; attempt < 5; attempt++) {
      const socket = connect(Number(port), '127.0.0.1');
      await once(socket, 'connect');
      socket.write('POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{"a"');
      await new Promise((resolve) => setTimeout(resolve, 50));
      socket.resetAndDestroy();
    }
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect((await fetch(ready.endpoints.dynamodb)).status).toBeGreaterThan(0);
    expect(child.exitCode).toBeNull();
  });

  test('SIGTERM ends the run with exit code 143, and ends its services', async () => {
    expect(await end(child, 'SIGTERM')).toBe(143);
    for (const endpoint of Object.values<string>(ready.endpoints)) {
      await expect(fetch(endpoint)).rejects.toThrow('fetch failed');
    }
  });
});

/** The ports on which a process listens. Source: proc(5). */
function listeningPorts(pid: number): number[] {
  const sockets = new Set(
    readdirSync(`/proc/${pid}/fd`).map((fd) => /^socket:\[(\d+)\]$/.exec(linkOf(`/proc/${pid}/fd/${fd}`))?.[1]),
  );
  const LISTEN = '0A';
  return ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/${pid}/net/${table}`, 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state, , , , , , inode]) => state === LISTEN && sockets.has(inode))
      .map(([, address]) => Number.parseInt(address!.split(':')[1]!, 16)),
  );
}

/** Returns the target of a symbolic link, or an empty text if the process has already closed the file. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

function statusOf(port: number, method: string, headers: Record<string, string>) {
  return new Promise<{ status?: number; allowed?: string }>((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, method, headers }, (response) => {
      response.resume();
      resolve({ status: response.statusCode, allowed: response.headers['access-control-allow-origin'] });
    });
    sent.once('error', reject).end(method === 'POST' ? '{}' : undefined);
  });
}
