import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Emulator, EmulatorFailedError } from '../../bin/local/emulators/emulator-thread';

/** A command and its first arguments. */
export type Program = readonly [string, ...string[]];

/**
 * Starts dynoxide, and ends dynoxide when the standard input of this program closes. The standard input closes even if
 * the parent process is killed.
 */
const LEASH = `
const { spawn } = require('node:child_process');
const [command, ...parameters] = process.argv.slice(1);
const child = spawn(command, parameters, { stdio: ['ignore', 'inherit', 'inherit'] });
child.on('error', (error) => { console.error(error.message); process.exit(1); });
child.on('exit', (code) => process.exit(code ?? 1));
process.on('SIGINT', () => {});
process.stdin.on('close', () => child.kill()).resume();
`;

const START_LIMIT_MS = 30_000;
const POLL_MS = 20;
const LAST_OUTPUT_LENGTH = 500;

/** Finds dynoxide if it is installed: in the project, next to this package, or on the PATH. */
export function findDynoxide(projectDirectory = process.cwd(), path = process.env.PATH ?? ''): Program | undefined {
  for (const origin of [join(projectDirectory, 'package.json'), __filename]) {
    const script = packageScript(origin);
    if (script !== undefined) return [process.execPath, script];
  }
  const names = process.platform === 'win32' ? ['dynoxide.exe', 'dynoxide.cmd'] : ['dynoxide'];
  const files = path
    .split(delimiter)
    .flatMap((folder) => (folder === '' ? [] : names.map((name) => join(folder, name))));
  const program = files.find(isExecutable);
  return program === undefined ? undefined : [program];
}

/** Starts dynoxide, an emulator of DynamoDB, in a process of its own on a port of the loopback interface. */
export async function startDynoxide([command, ...parameters]: Program): Promise<Emulator> {
  const port = await freePort();
  const listen = ['--host', '127.0.0.1', '--port', String(port)];
  const leash = spawn(process.execPath, ['-e', LEASH, command, ...parameters, ...listen], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const exit = once(leash, 'exit');
  let output = '';
  for (const stream of [leash.stdout, leash.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output = (output + chunk).slice(-LAST_OUTPUT_LENGTH);
    });
  }
  let stopping = false;
  const stop = async (): Promise<void> => {
    stopping = true;
    leash.stdin.destroy();
    await exit;
  };
  const failure = exit.then(([code]): Promise<never> => {
    if (stopping) return new Promise<never>(() => {});
    throw new EmulatorFailedError('dynoxide', `ended with exit code ${code}`, output.trim());
  });
  // Without this handler, a failure for which no caller waits would end the process.
  failure.catch(() => {});
  const endpoint = `http://127.0.0.1:${port}`;
  const deadline = performance.now() + START_LIMIT_MS;
  for (;;) {
    const isUp = await Promise.race([failure, answers(endpoint)]);
    if (isUp) return { endpoint, failure, stop };
    if (performance.now() > deadline) {
      await stop();
      const what = `was not ready after ${START_LIMIT_MS / 1_000} seconds`;
      throw new EmulatorFailedError('dynoxide', what, output.trim());
    }
    await sleep(POLL_MS);
  }
}

/** The program that the npm package of dynoxide runs. Undefined if the package is not installed there. */
function packageScript(origin: string): string | undefined {
  try {
    const manifest = createRequire(origin).resolve('dynoxide/package.json');
    const { bin } = JSON.parse(readFileSync(manifest, 'utf8'));
    return join(dirname(manifest), typeof bin === 'string' ? bin : bin.dynoxide);
  } catch {
    return undefined;
  }
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

function answers(endpoint: string): Promise<boolean> {
  return fetch(endpoint).then(
    () => true,
    () => false,
  );
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
