import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** The program dynoxide, an emulator that is held against AWS: where it is, if it is installed. */
export const DYNOXIDE = 'DYNOXIDE';

const TRIES = 100;

/** Dynoxide on the loopback interface. */
export async function startDynoxide(): Promise<{ endpoint: string; stop(): Promise<void> }> {
  const port = await freePort();
  const child = spawn(process.env[DYNOXIDE]!, ['--port', String(port)], { stdio: 'ignore' });
  const exit = once(child, 'exit');
  const endpoint = `http://127.0.0.1:${port}`;
  for (let tries = 0; tries < TRIES && child.exitCode === null; tries++) {
    if (await fetch(endpoint).catch(() => undefined)) {
      const stop = async () => {
        child.kill();
        await exit;
      };
      return { endpoint, stop };
    }
    await sleep(50);
  }
  child.kill();
  throw new Error('dynoxide did not start');
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
